"""Writes GGUF files of larger shapes with random weights: speed does not depend on what the weights say."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from gguf import GGMLQuantizationType, GGUFReader, GGUFWriter

Bytes = np.ndarray[Any, np.dtype[np.uint8]]
_BLOCK = 32  # numbers that share a scale, in both formats
_BYTES_A_BLOCK = {GGMLQuantizationType.Q8_0: 34, GGMLQuantizationType.Q4_0: 18}
# What the largest number of a block means, in scales.
_LARGEST = {GGMLQuantizationType.Q8_0: 127, GGMLQuantizationType.Q4_0: 8}


@dataclass(frozen=True)
class Shape:
    """The sizes of a Llama: `width` of the stream between layers, `inner` of the feed-forward part."""

    name: str
    layers: int
    width: int
    inner: int
    heads: int
    kv_heads: int


# Those of Qwen2.5's 0.5B and 1.5B, with the default model's smaller vocabulary.
SHAPES = (Shape("0.5B", 24, 896, 4864, 14, 2), Shape("1.5B", 28, 1536, 8960, 12, 2))
FORMATS = {"Q8_0": GGMLQuantizationType.Q8_0, "Q4_0": GGMLQuantizationType.Q4_0}


def write(file: Path, shape: Shape, kind: GGMLQuantizationType, vocabulary_of: Path) -> None:
    """Write a model of this shape that can be served, with the vocabulary and template of another file."""
    fields = GGUFReader(vocabulary_of).fields
    writer = GGUFWriter(file, "llama")
    _describe(writer, shape, vocabulary_size=len(fields["tokenizer.ggml.tokens"].data))
    for name, field in fields.items():
        if name.startswith("tokenizer."):
            kinds = field.types
            writer.add_key_value(name, field.contents(), kinds[0], kinds[1] if len(kinds) > 1 else None)
    rng = np.random.default_rng(1)
    for name, rows, columns in _matrices(shape, len(fields["tokenizer.ggml.tokens"].data)):
        writer.add_tensor(name, random_blocks(rng, rows, columns, kind), raw_dtype=kind)
    for name in _norms(shape):
        writer.add_tensor(name, np.ones(shape.width, np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def random_blocks(rng: np.random.Generator, rows: int, columns: int, kind: GGMLQuantizationType) -> Bytes:
    """A matrix of this format: random numbers small enough that what comes in goes out about as large."""
    size = _BYTES_A_BLOCK[kind]
    blocks = rng.integers(0, 256, (rows, columns // _BLOCK, size), np.uint8)
    scale = np.float16(1.7 / _LARGEST[kind] / np.sqrt(columns))  # 1.7: a uniform distribution's largest, in deviations
    blocks[:, :, :2] = np.frombuffer(scale.tobytes(), np.uint8)
    return blocks.reshape(rows, -1)


def _describe(writer: GGUFWriter, shape: Shape, vocabulary_size: int) -> None:
    writer.add_name(f"random {shape.name}")
    writer.add_context_length(8192)
    writer.add_embedding_length(shape.width)
    writer.add_block_count(shape.layers)
    writer.add_feed_forward_length(shape.inner)
    writer.add_head_count(shape.heads)
    writer.add_head_count_kv(shape.kv_heads)
    writer.add_rope_freq_base(100_000)
    writer.add_rope_dimension_count(shape.width // shape.heads)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(vocabulary_size)


def _matrices(shape: Shape, vocabulary_size: int) -> Iterator[tuple[str, int, int]]:
    """Names, rows (what comes out) and columns (what goes in); the output shares the embedding's weights."""
    keys = shape.width // shape.heads * shape.kv_heads
    yield "token_embd.weight", vocabulary_size, shape.width
    for layer in range(shape.layers):
        for name, rows, columns in (
            ("attn_q", shape.width, shape.width),
            ("attn_k", keys, shape.width),
            ("attn_v", keys, shape.width),
            ("attn_output", shape.width, shape.width),
            ("ffn_gate", shape.inner, shape.width),
            ("ffn_up", shape.inner, shape.width),
            ("ffn_down", shape.width, shape.inner),
        ):
            yield f"blk.{layer}.{name}.weight", rows, columns


def _norms(shape: Shape) -> Iterator[str]:
    yield "output_norm.weight"
    for layer in range(shape.layers):
        yield f"blk.{layer}.attn_norm.weight"
        yield f"blk.{layer}.ffn_norm.weight"
