"""Weights and vocabulary of the package become the file that llama.cpp expects, the same one every time."""

import json

import gguf
import numpy as np
import pytest

from chat.inference.embedding_file import write_gguf

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "dog", "##s", "##", "#"]
TENSORS = {
    "embeddings.position_ids": np.arange(4, dtype=np.int64)[None],
    "embeddings.word_embeddings.weight": np.linspace(-1, 1, 36, dtype=np.float32).reshape(9, 4),
    "embeddings.token_type_embeddings.weight": np.ones((2, 4), np.float32),
    "embeddings.LayerNorm.bias": np.ones(4, np.float32),
    "encoder.layer.0.attention.self.query.weight": np.eye(4, dtype=np.float32),
    "pooler.dense.weight": np.eye(4, dtype=np.float32),
}


@pytest.fixture
def write(tmp_path):
    """Writes the tensors as a package has them, and from these the file; returns its path."""
    (tmp_path / "vocab.txt").write_text("\n".join(WORDS) + "\n")

    def written(tensors, name="made.gguf"):
        head, data = {"__metadata__": {"format": "pt"}}, b""
        for tensor, values in tensors.items():
            kind = {"float32": "F32", "int64": "I64"}[values.dtype.name]
            offsets = [len(data), len(data) + values.nbytes]
            head[tensor] = {"dtype": kind, "shape": values.shape, "data_offsets": offsets}
            data += values.tobytes()
        raw = json.dumps(head).encode()
        (tmp_path / "model.safetensors").write_bytes(len(raw).to_bytes(8, "little") + raw + data)
        write_gguf(tmp_path / "model.safetensors", tmp_path / "vocab.txt", tmp_path / name)
        return tmp_path / name

    return written


def test_tensors_have_new_names_and_only_matrices_16_bits(write):
    tensors = {tensor.name: tensor for tensor in gguf.GGUFReader(write(TENSORS)).tensors}
    kinds = {name: tensor.tensor_type.name for name, tensor in tensors.items()}
    assert kinds == {
        "token_embd.weight": "F16",
        "token_types.weight": "F32",
        "token_embd_norm.bias": "F32",
        "blk.0.attn_q.weight": "F16",
    }
    expected = TENSORS["embeddings.word_embeddings.weight"].astype(np.float16)
    assert np.array_equal(tensors["token_embd.weight"].data, expected)


def test_the_vocabulary_marks_beginnings_of_words(write):
    fields = gguf.GGUFReader(write(TENSORS)).fields
    tokens = fields["tokenizer.ggml.tokens"].contents()
    assert tokens == [*WORDS[:5], "\u2581dog", "s", "\u2581##", "\u2581#"]
    assert fields["tokenizer.ggml.model"].contents() == "bert"
    assert fields["tokenizer.ggml.unknown_token_id"].contents() == 1
    assert fields["bert.pooling_type"].contents() == gguf.PoolingType.MEAN
    assert fields["bert.attention.causal"].contents() is False


def test_it_is_the_same_file_every_time(write):
    assert write(TENSORS, "one.gguf").read_bytes() == write(TENSORS, "two.gguf").read_bytes()


def test_weights_of_another_model_are_refused(write):
    with pytest.raises(ValueError, match="rotary"):
        write(TENSORS | {"encoder.rotary.weight": np.eye(2, dtype=np.float32)})
