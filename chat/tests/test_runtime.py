"""The one model of the process: loading, ready, or missing with a reason."""

import json

import pytest
from django.core.management import CommandError, call_command

from chat.runtime import ModelUnavailable, Runtime


@pytest.fixture
def script(settings, tmp_path):
    """Settings under which a scripted runner answers."""
    path = tmp_path / "script.json"
    path.write_text(json.dumps({"name": "Parrot", "replies": [{"when": "capital", "say": "Paris."}]}))
    settings.LLM_SCRIPT, settings.LLM_AUTOSTART = str(path), True
    return path


def test_a_loaded_model_is_ready_and_has_a_readable_name(script):
    runtime = Runtime()
    model = runtime.wait_until_loaded()
    assert runtime.status().ready
    assert runtime.status().model == model.model_name == "Parrot"
    runtime.stop()
    assert runtime.status().reason == "The server is shutting down."


def test_a_missing_file_is_told_and_is_no_crash(settings, tmp_path):
    settings.LLM_MODEL_PATH, settings.LLM_AUTOSTART, settings.LLM_SCRIPT = tmp_path / "none.gguf", True, ""
    runtime = Runtime()
    with pytest.raises(ModelUnavailable, match=r"none\.gguf"):
        runtime.wait_until_loaded()
    assert not runtime.status().ready
    assert "none.gguf" in runtime.status().reason


def test_it_can_be_switched_off(settings):
    settings.LLM_AUTOSTART = False
    runtime = Runtime()
    runtime.start()
    with pytest.raises(ModelUnavailable, match="switched off"):
        runtime.chat_model()


def test_it_is_loaded_once(script):
    runtime = Runtime()
    first = runtime.wait_until_loaded()
    assert runtime.wait_until_loaded() is first
    runtime.stop()


@pytest.fixture
def fresh(monkeypatch):
    """A runtime of this test alone behind the module's functions."""
    runtime = Runtime()
    monkeypatch.setattr("chat.runtime.wait_until_loaded", runtime.wait_until_loaded)
    monkeypatch.setattr("chat.runtime.stop", runtime.stop)


def test_ask_prints_the_answer(script, fresh, capsys):
    call_command("ask", "What is the capital of France?")
    assert capsys.readouterr().out == "Paris.\n"


@pytest.mark.parametrize("question", ["", "  \n", "\u200b", "\x00"])
def test_ask_refuses_an_empty_question(script, fresh, question):
    with pytest.raises(CommandError, match="no question"):
        call_command("ask", question)


def test_ask_says_what_is_wrong_with_a_parameter(script, fresh):
    with pytest.raises(CommandError, match="temperature"):
        call_command("ask", "Hello", "--temperature", "9")


def test_ask_says_why_there_is_no_model(settings, tmp_path, fresh):
    settings.LLM_MODEL_PATH, settings.LLM_AUTOSTART, settings.LLM_SCRIPT = tmp_path / "none.gguf", True, ""
    with pytest.raises(CommandError, match="no model file"):
        call_command("ask", "Hello")
