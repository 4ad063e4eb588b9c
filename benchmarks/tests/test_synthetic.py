"""Files of random weights are whole: llama.cpp's own reader finds every tensor, the vocabulary and the sizes."""

import numpy as np
import pytest
from gguf import GGMLQuantizationType, GGUFReader, GGUFWriter, dequantize

from benchmarks import synthetic
from benchmarks.synthetic import FORMATS, Shape

TINY = Shape("tiny", layers=2, width=64, inner=128, heads=2, kv_heads=1)


@pytest.fixture
def vocabulary(tmp_path):
    file = tmp_path / "vocabulary.gguf"
    writer = GGUFWriter(file, "llama")
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list(["<|end|>", "Ġa", "b"])
    writer.add_token_types([3, 1, 1])
    writer.add_eos_token_id(0)
    writer.add_chat_template("{{ messages }}")
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return file


@pytest.mark.parametrize("kind", FORMATS.values(), ids=list(FORMATS))
def test_a_file_has_all_that_serving_needs(tmp_path, vocabulary, kind):
    file = tmp_path / "tiny.gguf"
    synthetic.write(file, TINY, kind, vocabulary)
    reader = GGUFReader(file)
    fields = {name: field.contents() for name, field in reader.fields.items()}
    assert fields["tokenizer.ggml.tokens"] == ["<|end|>", "Ġa", "b"]
    assert fields["tokenizer.ggml.eos_token_id"] == 0
    assert fields["tokenizer.chat_template"] == "{{ messages }}"
    assert (fields["llama.block_count"], fields["llama.attention.head_count_kv"]) == (2, 1)
    tensors = {tensor.name: tensor for tensor in reader.tensors}
    assert len(tensors) == 2 + 2 * 9
    assert tensors["token_embd.weight"].tensor_type == kind
    assert list(tensors["blk.1.ffn_down.weight"].shape) == [128, 64]
    assert list(tensors["blk.1.attn_k.weight"].shape) == [64, 32]


@pytest.mark.parametrize("kind", [GGMLQuantizationType.Q8_0, GGMLQuantizationType.Q4_0])
def test_what_goes_through_a_matrix_keeps_its_size(kind):
    blocks = synthetic.random_blocks(np.random.default_rng(1), 256, 1024, kind)
    weights = dequantize(blocks, kind)
    given = np.random.default_rng(2).standard_normal(1024)
    assert 0.3 < np.std(weights @ given) < 3
