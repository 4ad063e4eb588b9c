"""The first start prepares the default model, that one alone, and goes on whatever comes of it."""

from types import SimpleNamespace

import pytest
from django.core.management import CommandError, call_command

from chat.inference.model_file import fingerprint
from chat.inference.tuning import work
from chat.management.commands import get_model, prepare


@pytest.fixture
def start(settings, tmp_path, monkeypatch, capsys):
    """Calls the part of `prepare` that this is about; `start.outcome` is what preparing returns or raises."""
    settings.DATA_DIR, settings.LLM_AUTOSTART, settings.LLM_SCRIPT = tmp_path, True, ""
    settings.LLM_MODEL_PATH = tmp_path / "model.gguf"
    settings.LLM_MODEL_PATH.write_bytes(b"GGUF\x03\x00\x00\x00" + b"weights" * 100)
    monkeypatch.setattr(get_model, "FINGERPRINT", fingerprint(settings.LLM_MODEL_PATH))

    class Start:
        outcome, calls = SimpleNamespace(format="Q8_0"), 0

        def prepare(self, model, folder):
            self.calls += 1
            assert (model, folder) == (settings.LLM_MODEL_PATH, tmp_path / "tuned")
            if isinstance(self.outcome, BaseException):
                raise self.outcome
            return self.outcome

        def __call__(self):
            prepare.Command()._prepare_model()
            return "".join(capsys.readouterr())

    start = Start()
    monkeypatch.setattr(work, "prepare", start.prepare)
    return start


def test_the_default_model_is_prepared(start):
    said = start()
    assert "Preparing the default model" in said
    assert "used as Q8_0" in said


def test_it_is_told_when_the_original_is_better(start):
    start.outcome = SimpleNamespace(format="")
    assert "as it is" in start()


def test_another_model_is_not_touched(start, settings):
    settings.LLM_MODEL_PATH.write_bytes(b"GGUF\x03\x00\x00\x00" + b"another")
    assert start() == ""
    assert start.calls == 0


@pytest.mark.parametrize(("name", "value"), [("LLM_TUNED", False), ("LLM_AUTOSTART", False), ("LLM_SCRIPT", "x.json")])
def test_nothing_is_prepared_that_will_not_be_used(start, settings, name, value):
    setattr(settings, name, value)
    assert start() == ""
    assert start.calls == 0


def test_a_missing_model_is_no_matter_of_this_step(start, settings):
    settings.LLM_MODEL_PATH.unlink()
    assert start() == ""


def test_a_failure_is_told_and_the_start_goes_on(start):
    start.outcome = work.CannotTune("There is no room.")
    assert "The model is used as it is: There is no room." in start()


def test_an_interruption_ends_the_start(start):
    start.outcome = KeyboardInterrupt()
    with pytest.raises(CommandError, match="Interrupted") as ended:
        start()
    assert ended.value.returncode == 130


def test_the_whole_command_still_comes_to_its_end(start, db, monkeypatch):
    called = []
    monkeypatch.setattr(prepare, "call_command", lambda name, **_: called.append(name))
    start.outcome = work.CannotTune("no room")
    call_command("prepare")
    assert called[-1] == "ensure_owner"
