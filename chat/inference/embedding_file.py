"""Writes all-MiniLM-L6-v2, which a Python package carries as safetensors, as a GGUF file that llama.cpp reads."""

import logging
from collections.abc import Iterator, Sequence
from pathlib import Path

import gguf
import numpy as np
from gguf.utility import LocalTensor, SafetensorsLocal
from numpy.typing import NDArray

logging.getLogger("gguf").setLevel(logging.WARNING)  # it tells of every file that it writes

NAME = "all-MiniLM-L6-v2"
LAYERS, HEADS, DIMS, FEED_FORWARD, CONTEXT = 6, 12, 384, 1536, 512
# llama.cpp marks the beginning of a word, WordPiece its continuation.
_WORD_BEGINS, _WORD_GOES_ON = "\u2581", "##"


def write_gguf(weights: Path, vocabulary: Path, target: Path) -> None:
    """Write the model to `target`: matrices as 16-bit numbers, all else as 32-bit ones; the same bytes every time.

    `weights` is the package's model.safetensors, `vocabulary` its vocab.txt. Raises ValueError for another model's.
    """
    words = vocabulary.read_text(encoding="utf-8").splitlines()
    writer = gguf.GGUFWriter(target, "bert")
    try:
        _describe(writer)
        _add_vocabulary(writer, words)
        for name, tensor in _tensors(weights):
            writer.add_tensor(name, tensor)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
    finally:
        writer.close()


def _describe(writer: gguf.GGUFWriter) -> None:
    writer.add_name(NAME)
    writer.add_license("apache-2.0")
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_F16)
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(DIMS)
    writer.add_block_count(LAYERS)
    writer.add_head_count(HEADS)
    writer.add_feed_forward_length(FEED_FORWARD)
    writer.add_layer_norm_eps(1e-12)
    writer.add_causal_attention(False)
    writer.add_pooling_type(gguf.PoolingType.MEAN)


def _add_vocabulary(writer: gguf.GGUFWriter, words: Sequence[str]) -> None:
    special = {word: number for number, word in enumerate(words) if word.startswith("[") and word.endswith("]")}
    writer.add_tokenizer_model("bert")
    writer.add_tokenizer_pre("default")
    writer.add_token_list([word if word in special else _as_llama_writes(word) for word in words])
    kinds = [gguf.TokenType.CONTROL if word in special else gguf.TokenType.NORMAL for word in words]
    writer.add_token_types(kinds)
    writer.add_token_type_count(2)
    writer.add_bos_token_id(special["[CLS]"])
    writer.add_eos_token_id(special["[SEP]"])
    writer.add_sep_token_id(special["[SEP]"])
    writer.add_unk_token_id(special["[UNK]"])
    writer.add_pad_token_id(special["[PAD]"])
    writer.add_mask_token_id(special["[MASK]"])


def _as_llama_writes(word: str) -> str:
    goes_on = word.startswith(_WORD_GOES_ON) and len(word) > len(_WORD_GOES_ON)
    return word.removeprefix(_WORD_GOES_ON) if goes_on else _WORD_BEGINS + word


def _tensors(weights: Path) -> Iterator[tuple[str, NDArray[np.floating]]]:
    """The tensors by the names that llama.cpp gives them, in the order of their own names."""
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.BERT, LAYERS)
    for name, tensor in SafetensorsLocal(weights).tensors.items():
        # The pooler was left over from training; the positions are 0, 1, 2 ...
        if name.startswith("pooler.") or name == "embeddings.position_ids":
            continue
        known = names.get_name(name, try_suffixes=(".weight", ".bias"))
        if known is None:
            raise ValueError(f"{weights.name} is another model's: it holds {name}.")
        yield known, _numbers(known, tensor)


def _numbers(name: str, tensor: LocalTensor) -> NDArray[np.floating]:
    values = tensor.mmap_bytes().view(np.float32).reshape(tensor.shape)
    # Positions and types are added to the words, and small: llama.cpp adds 32-bit numbers only.
    is_matrix = len(tensor.shape) == 2 and name.startswith(("blk.", "token_embd."))
    return values.astype(np.float16) if is_matrix else values
