"""Whatever goes wrong while a model is tuned, it stays as it was, and a sentence says why."""

import shutil
import signal
import subprocess
import sys
import textwrap
from collections import namedtuple

import pytest

from chat.inference.config import EngineConfig
from chat.inference.tuning import quantizing, tuned, work
from chat.inference.tuning.choice import Divergence
from chat.inference.tuning.quantizing import NotWritten, rewrite
from chat.inference.tuning.work import CannotTune, Options, prepare, tune

ROOT = quantizing._root()


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "tuned"


def left(folder):
    """What a failed run leaves behind, beside its lock."""
    return sorted(file.name for file in folder.iterdir() if file.name != "lock")


def full_disk(monkeypatch):
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(quantizing.shutil, "disk_usage", lambda _: usage(10**9, 10**9, 10**6))


def test_a_full_disk_is_told_before_anything_is_written(tmp_path, monkeypatch):
    full_disk(monkeypatch)
    with pytest.raises(NotWritten, match=r"has 0 MiB free; \d+ MiB are needed"):
        rewrite(tmp_path / "model.gguf", tmp_path / "new.gguf", "Q8_0", num_weights=135_000_000)
    assert not (tmp_path / "new.gguf").exists()


@pytest.mark.parametrize("content", [b"", b"GGUF", b"PK\x03\x04 something else", b"GGUF\x03\x00\x00\x00" + bytes(64)])
def test_a_broken_source_is_told(tmp_path, folder, content):
    model = tmp_path / "model.gguf"
    model.write_bytes(content)
    with pytest.raises(CannotTune, match=r"model\.gguf"):
        prepare(model, folder)
    assert not folder.exists() or left(folder) == []


def test_a_source_that_the_library_refuses_is_told(tmp_path):
    model = tmp_path / "model.gguf"
    model.write_bytes(b"GGUF\x03\x00\x00\x00" + bytes(64))
    with pytest.raises(NotWritten, match=r"model\.gguf cannot be written as Q8_0: \S"):
        rewrite(model, tmp_path / "new.gguf", "Q8_0", num_weights=1)


def test_a_directory_that_cannot_be_written_is_named(tmp_path, folder, model_path):
    folder.touch()
    with pytest.raises(CannotTune, match=r"Cannot write to .*tuned"):
        prepare(model_path, folder)


def test_a_second_run_at_the_same_time_is_refused(folder, model_path):
    with work.keeping.workshop(folder), pytest.raises(CannotTune, match="Another process"):
        prepare(model_path, folder)


@pytest.mark.model
class TestWithTheModel:
    """What needs a real file to get as far as that."""

    @pytest.fixture(autouse=True)
    def quick(self, monkeypatch):
        """As little as can be measured."""
        smallest = work.Sizes(reading=8, comparing=8, steps=1)
        monkeypatch.setattr(work, "fitting", lambda *_: smallest)
        monkeypatch.setattr(work, "fit_settings", lambda *_: work.Settings(threads=1))
        monkeypatch.setattr(work, "share_of_processors", lambda *_: 1.0)

    def test_a_format_for_which_there_is_no_room_is_left_out(self, folder, model_path, monkeypatch):
        full_disk(monkeypatch)
        found = tune(model_path, folder, Options(("Q8_0",)))
        assert found.weights == ""
        assert "MiB free" in found.notes[0]
        assert left(folder) == [f"{found.fingerprint}.json"]

    def test_preparing_fails_where_there_is_no_room_and_is_tried_again(self, folder, model_path, monkeypatch):
        full_disk(monkeypatch)
        with pytest.raises(CannotTune, match="MiB free"):
            prepare(model_path, folder)
        assert left(folder) == []

    def test_a_format_that_does_not_fit_into_memory_is_left_out(self, folder, model_path, monkeypatch):
        monkeypatch.setattr(work, "available_memory", lambda: 200 * 1024 * 1024)
        assert "free memory" in tune(model_path, folder, Options(("Q8_0",))).notes[0]

    def test_when_the_time_is_up_nothing_new_begins(self, folder, model_path):
        assert "the time is up" in tune(model_path, folder, Options(("Q8_0",), seconds=0)).notes[0]

    def test_settings_are_not_taken_from_a_busy_machine(self, folder, model_path, monkeypatch):
        assert tune(model_path, folder, Options(("Q8_0",), seconds=0)).threads == 1
        monkeypatch.setattr(work, "share_of_processors", lambda *_: 0.5)
        found = tune(model_path, folder, Options(("Q8_0",), seconds=0))
        assert found.threads == 0
        assert "busy" in found.notes[-1]

    def test_one_that_says_other_things_is_not_taken(self, folder, model_path, monkeypatch):
        monkeypatch.setattr(work, "compare", lambda *_: Divergence(0.5, 0.5))
        found = tune(model_path, folder, Options(("Q8_0",)))
        assert (found.weights, found.formats[1].divergence.kl) == ("", 0.5)
        assert left(folder) == [f"{found.fingerprint}.json"]

    @pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
    def test_a_run_that_is_killed_while_it_writes_leaves_the_original(self, folder, model_path, number):
        child = _stop_while_writing(model_path, folder)
        child.send_signal(number)
        child.communicate(timeout=20)
        assert child.returncode != 0
        config = EngineConfig(model_path)
        assert tuned(config, folder) == config
        with work.keeping.workshop(folder):
            assert len(left(folder)) == 1  # the workshop that is open


def _stop_while_writing(model, folder):
    """A process that has weights half written; it waits to be killed."""
    program = f"""
        from pathlib import Path
        import signal
        import time
        from chat.inference.tuning import work

        # Whoever runs the tests in the background of a shell has this signal ignored, and all his children.
        signal.signal(signal.SIGINT, signal.default_int_handler)

        def rewrite(source, target, name, **_):
            target.write_bytes(source.read_bytes()[:1_000_000])
            print("half", flush=True)
            time.sleep(60)

        work.rewrite = rewrite
        work.fitting = lambda *_: work.Sizes(reading=8, comparing=8, steps=1)
        work.prepare(Path({str(model)!r}), Path({str(folder)!r}))
    """
    child = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program)], cwd=ROOT, text=True, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )  # fmt: skip
    assert child.stdout.readline() == "half\n", child.communicate()[1]
    return child


def test_the_writer_ends_with_its_parent(tmp_path):
    """Closing its input is what a parent's death does, however it was killed."""
    source = tmp_path / "model.gguf"
    shutil.os.mkfifo(source)  # which nobody writes to: the library waits for it
    command = [sys.executable, "-m", quantizing.__name__, str(source), str(tmp_path / "new.gguf"), "7"]
    child = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE)
    child.stdin.close()
    assert child.wait(timeout=60) == 1
