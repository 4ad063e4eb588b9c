"""A file that is no usable model gives a message that names the file and the reason."""

import pytest

from chat.inference.config import EngineConfig
from chat.inference.llama import LlamaRunner
from chat.inference.model_file import ModelNotLoaded, check_file, fingerprint


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, "no model file"),
        (b"", "cut short"),
        (b"GGUF", "cut short"),
        (b"PK\x03\x04 something else", "no GGUF file"),
        (b"GGUF\x09\x00\x00\x00" + bytes(64), "version 9"),
    ],
)
def test_the_reason_is_told(tmp_path, content, reason):
    path = tmp_path / "model.gguf"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ModelNotLoaded, match=reason) as refused:
        check_file(path)
    assert str(path) in str(refused.value)


def test_a_folder_is_no_model(tmp_path):
    with pytest.raises(ModelNotLoaded, match="no file"):
        check_file(tmp_path)


@pytest.mark.model
@pytest.mark.parametrize("length", [20, 1000, 2_000_000, 50_000_000])
def test_a_file_that_was_cut_short_says_so(tmp_path, model_path, length):
    path = tmp_path / "cut.gguf"
    path.write_bytes(model_path.read_bytes()[:length])
    with pytest.raises(ModelNotLoaded, match=r"header|remaining file size|file bounds") as refused:
        LlamaRunner(EngineConfig(path, context=256, slots=1))
    assert "cut.gguf" in str(refused.value)


def test_the_fingerprint_changes_with_either_end(tmp_path):
    path = tmp_path / "model.gguf"
    seen = set()
    for content in (b"a" * 100 + b"b", b"a" * 100 + b"c", b"d" + b"a" * 99 + b"b", b"a" * 99 + b"b"):
        path.write_bytes(content)
        seen.add(fingerprint(path))
    assert len(seen) == 4
