"""The embedding model of the process: beside the chat model, and nothing that replies depend on."""

import logging

import pytest

from chat.runtime import Runtime


@pytest.fixture
def load(settings, tmp_path):
    """Loads a runtime by a script for the chat model and this EMBED_MODEL_PATH."""
    (tmp_path / "script.json").write_text("{}")
    settings.LLM_AUTOSTART, runtimes = True, []

    def loaded(path, *, script=str(tmp_path / "script.json")):
        settings.LLM_SCRIPT, settings.EMBED_MODEL_PATH = script, type(tmp_path)(path)
        runtimes.append(Runtime())
        runtimes[-1].start()
        runtimes[-1]._thread.join(30)
        return runtimes[-1]

    yield loaded
    for runtime in runtimes:
        runtime.stop()


def test_a_scripted_one_is_there_when_it_is_asked_for(load):
    runtime = load("scripted")
    embedder = runtime.embedder()
    assert embedder.embed(["word"]).any()
    runtime.stop()
    assert runtime.embedder() is None
    assert embedder.model.closed


@pytest.mark.parametrize("path", ["off", "anything.gguf"])
def test_there_is_none_when_it_is_off_or_the_chat_model_is_scripted(load, path, caplog):
    runtime = load(path)
    assert runtime.status().ready
    assert runtime.embedder() is None
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


@pytest.mark.parametrize("content", [None, b"GGUF\x03\0\0\0" + b"\0" * 64, b"something else"])
def test_a_broken_one_is_one_warning_with_its_reason(load, tmp_path, caplog, content, settings):
    if content is not None:
        (tmp_path / "broken.gguf").write_bytes(content)
    settings.LLM_MODEL_PATH = tmp_path / "none.gguf"
    runtime = load(tmp_path / "broken.gguf", script="")
    assert runtime.embedder() is None
    warnings = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert len(warnings) == 1
    assert "broken.gguf" in warnings[0]


@pytest.mark.model
def test_both_models_work_beside_each_other(load, model_path, embedding_model_path, settings):
    settings.LLM_MODEL_PATH, settings.LLM_SLOTS, settings.LLM_CONTEXT = model_path, 1, 512
    runtime = load(embedding_model_path, script="")
    assert runtime.status().ready
    question, near, far = runtime.embedder().embed(["my pet's name", "The dog is called Rex", "Trains leave at nine"])
    assert question @ near > question @ far + 0.2
    assert runtime.embedder().info.name == "all-MiniLM-L6-v2"
