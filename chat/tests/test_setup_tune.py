"""`manage.py tune` says what it chose and why, what is in use, and what is wrong with what it was asked."""

import io
from dataclasses import replace

import pytest
from django.core.management import CommandError, call_command

from chat import runtime
from chat.inference.config import EngineConfig
from chat.inference.model_file import ModelNotLoaded, fingerprint
from chat.inference.tuning import Tuning, this_machine
from chat.inference.tuning.choice import Divergence, Measured, Speeds
from chat.inference.tuning.keeping import keep, workshop
from chat.inference.tuning.work import CannotTune
from chat.management.commands import get_model, prepare, tune

TABLE = (
    Measured("original", Speeds(300, 80, 100), Speeds(1, 1, 1), size_bytes=93 << 20),
    Measured("Q8_0", Speeds(700, 75, 140), Speeds(2.3, 0.94, 1.4), Divergence(0.0055, 0.973), 138 << 20),
)


@pytest.fixture
def model(settings, tmp_path):
    """A file that passes for a model, in a data directory of its own."""
    settings.DATA_DIR, settings.LLM_MODEL_PATH = tmp_path, tmp_path / "model.gguf"
    settings.LLM_SCRIPT, settings.LLM_AUTOSTART = "", True
    settings.LLM_MODEL_PATH.write_bytes(b"GGUF\x03\x00\x00\x00" + b"weights" * 100)
    return settings.LLM_MODEL_PATH


@pytest.fixture
def kept(model):
    """That model tuned."""
    with workshop(model.parent / "tuned") as shop:
        written, name = shop / "new.gguf", fingerprint(model)
        written.write_bytes(b"GGUF\x03\x00\x00\x00" + b"rewritten" * 100)
        found = Tuning(
            "model", name, this_machine(), "2026-01-02T03:04:05+00:00", "tune", format="Q8_0",
            weights=f"{name}.Q8_0.gguf", weights_fingerprint=fingerprint(written), threads=2, busy_batch=64,
            formats=TABLE, notes=("F16: not tried, the time is up.",),
        )  # fmt: skip
        keep(model.parent / "tuned", found, written)
    return found


def said(*arguments):
    out = io.StringIO()
    call_command("tune", *arguments, stdout=out)
    return out.getvalue()


def test_the_table_and_the_choice_are_shown(model, monkeypatch):
    asked = []

    def measure(path, folder, options, tell):
        asked.append((path, folder, options.formats, options.max_kl, options.seconds))
        tell("Q8_0")
        return Tuning("model", "f", this_machine(), "today", "tune", format="Q8_0", threads=2, formats=TABLE)

    monkeypatch.setattr(tune, "tune", measure)
    text = said("--formats", "q8_0, F16,Q8_0", "--max-kl", "0.1", "--seconds", "30")
    assert asked == [(model, model.parent / "tuned", ("Q8_0", "F16"), 0.1, 30)]
    assert "Q8_0                  700   75.0  140.0   1.62  0.0055   97.3%   138 MiB" in text
    assert "Chosen: weights: Q8_0, threads: 2" in text
    assert "used from the next start on" in text


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--formats", "Q9"], "no format 'Q9'. Choose of Q8_0"),
        (["--formats", " ,"], "one format"),
        (["--max-kl", "-1"], "max-kl"),
        (["--max-kl", "nan"], "max-kl"),
        (["--seconds", "0"], "seconds"),
        (["--check", "--remove"], "not allowed with"),
    ],
)
def test_what_makes_no_sense_is_refused(model, arguments, reason):
    with pytest.raises(CommandError, match=reason):
        said(*arguments)


@pytest.mark.parametrize(
    ("error", "told"), [(CannotTune("No room."), "No room. Nothing was changed"), (KeyboardInterrupt(), "Interrupted")]
)
def test_a_failure_says_that_nothing_was_changed(model, monkeypatch, error, told):
    def fail(*_):
        raise error

    monkeypatch.setattr(tune, "tune", fail)
    with pytest.raises(CommandError, match=told):
        said()


def test_check_tells_what_is_in_use_and_what_was_left_out(kept):
    text = said("--check")
    assert "F16: not tried" in text
    assert "Chosen: weights: Q8_0, threads: 2, busy batch: 64" in text
    assert text.endswith("It is in use.\n")


def test_check_tells_that_it_is_switched_off(kept, settings):
    settings.LLM_TUNED = False
    assert "LLM_TUNED is off" in said("--check")


def test_check_tells_why_it_is_left_aside(kept, monkeypatch):
    elsewhere = replace(this_machine(), cores=99)
    monkeypatch.setattr(tune.tuning, "this_machine", lambda: elsewhere)
    assert "measured elsewhere" in said("--check")


def test_check_tells_that_there_is_none(model):
    assert "has not been tuned" in said("--check")


@pytest.mark.parametrize("argument", ["--check", "--remove"])
def test_a_missing_model_is_told(model, argument):
    model.unlink()
    with pytest.raises(CommandError, match="no model file"):
        said(argument)


def test_remove_goes_back_to_the_original(kept, model):
    assert "The original is used" in said("--remove")
    assert runtime._config().weights_path is None
    assert "no tuning to remove" in said("--remove")
    assert model.exists()


def test_the_default_model_is_not_prepared_again_once_its_tuning_was_removed(kept, model, monkeypatch):
    monkeypatch.setattr(get_model, "FINGERPRINT", fingerprint(model))
    said("--remove")
    assert not prepare._is_wanted()
    assert runtime._config().weights_path is None
    assert "weights: the original" in said("--check")


def test_the_engine_uses_it_and_what_was_set_wins(kept, model, settings):
    config = runtime._config()
    assert (config.weights_path, config.threads, config.busy_batch) == (model.parent / "tuned" / kept.weights, 2, 64)
    settings.LLM_THREADS, settings.LLM_BUSY_BATCH = 1, 16
    config = runtime._config()
    assert (config.weights_path, config.threads, config.busy_batch) == (model.parent / "tuned" / kept.weights, 1, 16)


def test_switched_off_it_is_not_used(kept, settings):
    settings.LLM_TUNED = False
    assert runtime._config().weights_path is None
    assert runtime._config().threads == 0


def test_a_small_batch_bounds_the_busy_one(kept, settings):
    settings.LLM_BATCH = 32
    assert (runtime._config().batch, runtime._config().busy_batch) == (32, 32)


def test_weights_that_cannot_be_loaded_give_way_to_the_original(kept, monkeypatch, caplog):
    def load(config):
        if config.weights_path:
            raise ModelNotLoaded("It is broken.")
        return config

    monkeypatch.setattr("chat.inference.llama.LlamaRunner", load)
    loaded = runtime._runner(runtime._config())
    assert isinstance(loaded, EngineConfig)
    assert loaded.weights_path is None
    assert "It is broken" in caplog.text
