"""A memory check that is stopped leaves no process and no directory, and tells what it had measured."""

import asyncio
import tempfile
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from chat import runtime
from chat.memory.checking import background as module
from chat.memory.checking import launch
from chat.memory.checking.background import Background
from chat.memory.checking.launch import Result
from chat.memory.checking.run import Options
from chat.memory.checking.stopping import Stopped, Stopping
from chat.memory.checking.values import Report, Value

POPEN = launch.subprocess.Popen
SMALL = Options(turns=20, context=1024, more=0, lengths=(1000,), fault_turns=2)


@pytest.fixture
def left(tmp_path, monkeypatch, settings):
    """What is left: processes that were begun and live, and files in the temporary directory."""
    settings.EMBED_MODEL_PATH = "off"
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    begun = []

    def remembered(*args, **options):
        begun.append(POPEN(*args, **options))
        return begun[-1]

    monkeypatch.setattr(launch.subprocess, "Popen", remembered)

    def left():
        assert begun
        return [process.pid for process in begun if Path(f"/proc/{process.pid}").exists()] + [*tmp_path.iterdir()]

    left.begun = begun
    return left


def stopped(when, **how):
    """The report of a run that is stopped as soon as `when` holds of what it does."""
    stopping = Stopping()

    def progress(done, of, what):
        if when(what):
            stopping.ask(**how)

    with pytest.raises(Stopped) as error:
        launch.run(SMALL, progress, stopping=stopping)
    return error.value.report


def test_what_was_measured_until_then_is_told(left):
    report = stopped(lambda what: "1000 turns" in what)
    values = {value.name: value for value in report.values}
    assert values["planted fact in the prompt after 20 turns, same words"].met
    assert "turns that nothing covers, under any fault of the summariser" not in values
    assert left() == []


def test_before_the_first_conversation_is_done_there_is_nothing(left):
    assert stopped(lambda what: True) is None
    assert left() == []


def test_one_that_must_go_at_once_is_killed(left):
    assert stopped(lambda what: True, at_once=True) is None
    assert left() == []


def test_one_that_does_not_listen_is_killed_after_a_while(left, monkeypatch):
    monkeypatch.setattr(launch, "LAST_WORDS", 0.1)

    monkeypatch.setattr(POPEN, "terminate", lambda _: None)
    assert stopped(lambda what: True) is None
    assert left() == []


def test_one_that_is_stopped_before_it_begins_never_runs(left):
    stopping = Stopping()
    stopping.ask()
    with pytest.raises(Stopped):
        launch.run(SMALL, stopping=stopping)
    assert left() == []


def test_the_end_of_the_server_ends_it_too(left, tmp_path, settings):
    settings.DATA_DIR = tmp_path / "data"
    checker = Background()
    checker.start(SMALL)
    while not left.begun:
        time.sleep(0.01)
    checker.close(seconds=10)
    assert left() == []
    assert checker.state.was_stopped


def test_the_part_with_the_model_is_cancelled_and_keeps_the_rest(monkeypatch, settings, tmp_path):
    settings.DATA_DIR = tmp_path
    begun, ended, forgotten = threading.Event(), threading.Event(), []
    report = Report("a rule", {}, [Value("same words", "%", 99.0, 95, more_is_better=True)])

    async def measure(*_, **__):
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    engine = SimpleNamespace(forget=forgotten.append)
    monkeypatch.setattr(runtime, "chat_model", lambda: SimpleNamespace(engine=engine))
    monkeypatch.setattr(module.launch, "run", lambda *_, **__: Result(report, {}))
    monkeypatch.setattr(module.modelled, "measure", measure)
    checker = Background()
    checker.start()
    assert begun.wait(10)
    assert checker.stop()
    checker._thread.join(10)
    assert ended.is_set()
    assert forgotten == [module.OWNER]
    assert checker.state.was_stopped
    assert [value["name"] for value in checker.state.so_far["values"]] == ["same words"]
    assert checker.result() is None
    assert [*tmp_path.iterdir()] == []
