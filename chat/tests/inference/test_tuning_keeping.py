"""A tuning is found again whole, on the machine and for the file it was made for, or not at all."""

from dataclasses import replace
from pathlib import Path

import pytest

from chat.inference.config import EngineConfig
from chat.inference.model_file import fingerprint
from chat.inference.tuning import NotUsable, Tuning, find, remove, this_machine, tuned
from chat.inference.tuning.keeping import keep, workshop


@pytest.fixture
def model(tmp_path):
    """A file that passes for a model."""
    path = tmp_path / "model.gguf"
    path.write_bytes(b"GGUF\x03\x00\x00\x00" + b"original" * 100)
    return path


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "tuned"


@pytest.fixture
def kept(model, folder):
    """Weights and settings of that model, as they are kept on this machine."""
    with workshop(folder) as shop:
        written = shop / "Q8_0.gguf"
        written.write_bytes(b"GGUF\x03\x00\x00\x00" + b"rewritten" * 100)
        name = fingerprint(model)
        tuning = Tuning(
            model="model", fingerprint=name, machine=this_machine(), made="today", by="tune", format="Q8_0",
            weights=f"{name}.Q8_0.gguf", weights_fingerprint=fingerprint(written), threads=3, busy_batch=32,
            micro_batch=256,
        )  # fmt: skip
        keep(folder, tuning, written)
    return tuning


def test_it_is_found_as_it_was_kept_and_nothing_else_stays(kept, folder):
    assert find(folder, kept.fingerprint, this_machine()) == kept
    assert sorted(file.suffix for file in folder.iterdir()) == ["", ".gguf", ".json"]


def test_the_engine_is_given_weights_and_settings(kept, folder, model):
    config = tuned(EngineConfig(model), folder)
    assert config.weights_path == folder / kept.weights
    assert (config.threads, config.busy_batch, config.micro_batch) == (3, 32, 256)
    assert config.model_path == model


def test_what_a_person_set_wins(kept, folder, model):
    config = tuned(EngineConfig(model, threads=1, busy_batch=8), folder, chosen=["threads", "busy_batch"])
    assert (config.threads, config.busy_batch) == (1, 8)
    assert config.weights_path


def test_without_a_tuning_nothing_changes(folder, model):
    assert tuned(EngineConfig(model), folder) == EngineConfig(model)
    assert not folder.exists()


def test_another_machine_leaves_it_aside_and_says_so(kept, folder, model, monkeypatch, caplog):
    elsewhere = replace(this_machine(), processor="Another one")
    monkeypatch.setattr("chat.inference.tuning.applying.this_machine", lambda: elsewhere)
    assert tuned(EngineConfig(model), folder) == EngineConfig(model)
    assert "measured elsewhere" in caplog.text


@pytest.mark.parametrize("what", ["processor", "features", "cores", "threads", "library"])
def test_whatever_differs_of_a_machine_counts(kept, folder, what):
    with pytest.raises(NotUsable, match="elsewhere"):
        find(folder, kept.fingerprint, replace(this_machine(), **{what: "other"}))


def test_a_changed_model_has_no_tuning(kept, folder, model):
    model.write_bytes(model.read_bytes() + b"!")
    assert tuned(EngineConfig(model), folder) == EngineConfig(model)


def _cut(file):
    file.write_bytes(file.read_bytes()[:-1])


@pytest.mark.parametrize("damage", [Path.unlink, _cut])
def test_damaged_weights_are_not_loaded(kept, folder, model, damage, caplog):
    damage(folder / kept.weights)
    assert tuned(EngineConfig(model), folder) == EngineConfig(model)
    assert "missing or damaged" in caplog.text


@pytest.mark.parametrize("content", ["", "{", "[]", '{"model": "m"}'])
def test_a_broken_record_is_left_aside(kept, folder, model, content, caplog):
    (folder / f"{kept.fingerprint}.json").write_text(content)
    assert tuned(EngineConfig(model), folder) == EngineConfig(model)
    assert "no record of a tuning" in caplog.text


def test_a_newer_one_replaces_it(kept, folder):
    keep(folder, replace(kept, format="", weights="", weights_fingerprint=""), None)
    assert find(folder, kept.fingerprint, this_machine()).weights == ""
    assert not list(folder.glob("*.gguf"))


def test_it_can_be_removed(kept, folder, model):
    assert remove(folder, kept.fingerprint)
    assert tuned(EngineConfig(model), folder) == EngineConfig(model)
    assert not remove(folder, kept.fingerprint)
    assert [file.name for file in folder.iterdir()] == ["lock"]


def test_what_a_killed_process_left_is_cleared_away(folder):
    (folder / "unfinished-x").mkdir(parents=True)
    (folder / "unfinished-x" / "Q8_0.gguf").write_bytes(b"half")
    with workshop(folder):
        assert not (folder / "unfinished-x").exists()


def test_only_one_process_tunes(folder):
    with workshop(folder), pytest.raises(BlockingIOError), workshop(folder):
        pass
