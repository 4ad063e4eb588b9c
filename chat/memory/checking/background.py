"""The run that an administrator starts from the panel: one at a time, in the background, its result kept in a file."""

import asyncio
import json
import logging
import threading
from collections.abc import Coroutine
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from django.conf import settings
from django.utils import timezone

from chat import runtime
from chat.memory.checking import launch, modelled
from chat.memory.checking.answers import OWNER
from chat.memory.checking.launch import Progress, Result
from chat.memory.checking.run import Options
from chat.memory.checking.stopping import Stopped, Stopping
from chat.memory.checking.values import Report

logger = logging.getLogger(__name__)

_NICE = 15  # everybody else's work goes first


@dataclass(frozen=True)
class State:
    """Whether a run goes on and how far it is, or how the last one ended if it did not come to its result."""

    is_running: bool = False
    is_stopping: bool = False
    percent: int = 0
    what: str = ""
    error: str = ""  # why it failed
    was_stopped: bool = False  # at `percent`
    so_far: dict[str, Any] | None = None  # what a stopped one had measured


class Background:
    """Holds the run of this process."""

    def __init__(self) -> None:
        """Nothing runs yet."""
        self._lock = threading.Lock()
        self._stopping = Stopping()
        self._thread: threading.Thread | None = None
        self.state = State()

    def start(self, options: Options | None = None) -> bool:
        """Begin, unless a run goes on already: then False."""
        with self._lock:
            if self.state.is_running:
                return False
            self.state = State(is_running=True, what="beginning")
            self._stopping = Stopping()
            work = (options or Options(), self._stopping)
            self._thread = threading.Thread(target=self._run, args=work, name="memory check", daemon=True)
            self._thread.start()
        return True

    def stop(self) -> bool:
        """Have it end within seconds; what it has measured is in `state` then. False if nothing runs."""
        with self._lock:
            if not self.state.is_running:
                return False
            self.state = replace(self.state, is_stopping=True)
        self._stopping.ask()
        return True

    def close(self, seconds: float = 0.5) -> None:
        """The server ends: leave no process and no directory behind."""
        self._stopping.ask(at_once=True)
        if self._thread:
            self._thread.join(seconds)

    def result(self) -> dict[str, Any] | None:
        """The last whole run's figures, with `at`, an ISO date; None before the first."""
        try:
            figures: dict[str, Any] = json.loads(_file().read_text())
        except (OSError, ValueError):
            return None
        return figures

    def _run(self, options: Options, stopping: Stopping) -> None:
        ended = State()
        try:
            result = launch.run(options, self._share(0, 70), nice=_NICE, stopping=stopping)
            _with_model(result, options, self._share(70, 100), stopping)
            _keep(result)
        except Stopped as stopped:
            so_far = _figures(stopped.report) if stopped.report else None
            ended = State(was_stopped=True, percent=self.state.percent, so_far=so_far)
        except Exception as fault:
            logger.exception("The memory check failed")
            ended = State(error=str(fault) or type(fault).__name__)
        with self._lock:
            self.state = ended

    def _share(self, begin: int, end: int) -> Progress:
        """Progress from one per cent of the whole to another."""

        def progress(done: int, of: int, what: str) -> None:
            percent = begin + (end - begin) * done // max(1, of)
            with self._lock:
                self.state = replace(self.state, percent=percent, what=what)

        return progress


def _with_model(result: Result, options: Options, progress: Progress, stopping: Stopping) -> None:
    """By the site's own model, at the lowest priority; how soon it begins says nothing while others use it."""
    try:
        model = runtime.chat_model()
    except runtime.ModelUnavailable as reason:
        result.report.notes.append(f"Without the model: {reason}")
        return
    try:
        asyncio.run(_unless_stopped(modelled.measure(model, result, options, progress, timed=False), stopping))
    except asyncio.CancelledError:
        raise Stopped(result.report) from None
    finally:
        model.engine.forget(OWNER)


async def _unless_stopped(work: Coroutine[Any, Any, None], stopping: Stopping) -> None:
    task, loop = asyncio.ensure_future(work), asyncio.get_running_loop()
    with stopping.ended_by(lambda _: loop.call_soon_threadsafe(task.cancel)):
        await task


def _figures(report: Report) -> dict[str, Any]:
    return report.figures() | {"at": timezone.now().isoformat()}


def _keep(result: Result) -> None:
    unfinished = _file().with_suffix(".new")
    unfinished.write_text(json.dumps(_figures(result.report)))
    unfinished.replace(_file())


def _file() -> Path:
    return Path(settings.DATA_DIR) / "memory_check.json"


background = Background()
