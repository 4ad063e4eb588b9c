"""The run that an administrator starts from the panel: one at a time, in the background, its result kept in a file."""

import asyncio
import json
import logging
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from django.utils import timezone

from chat import runtime
from chat.memory.checking import launch, modelled
from chat.memory.checking.answers import OWNER
from chat.memory.checking.launch import Progress, Result
from chat.memory.checking.run import Options

logger = logging.getLogger(__name__)

_NICE = 15  # everybody else's work goes first


@dataclass(frozen=True)
class State:
    """Whether a run goes on and how far it is, or why the last one failed."""

    is_running: bool = False
    percent: int = 0
    what: str = ""
    error: str = ""


class Background:
    """Holds the run of this process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.state = State()

    def start(self, options: Options | None = None) -> bool:
        """Begin, unless a run goes on already: then False."""
        with self._lock:
            if self.state.is_running:
                return False
            self.state = State(is_running=True, what="beginning")
        threading.Thread(target=self._run, args=(options or Options(),), name="memory check", daemon=True).start()
        return True

    def result(self) -> dict[str, Any] | None:
        """The last run's figures, with `at`, an ISO date; None before the first."""
        try:
            figures: dict[str, Any] = json.loads(_file().read_text())
        except (OSError, ValueError):
            return None
        return figures

    def _run(self, options: Options) -> None:
        error = ""
        try:
            result = launch.run(options, self._share(0, 70), nice=_NICE)
            _with_model(result, options, self._share(70, 100))
            _keep(result)
        except Exception as fault:
            logger.exception("The memory check failed")
            error = str(fault) or type(fault).__name__
        self.state = State(error=error)

    def _share(self, begin: int, end: int) -> Progress:
        """Progress from one per cent of the whole to another."""

        def progress(done: int, of: int, what: str) -> None:
            self.state = State(is_running=True, percent=begin + (end - begin) * done // max(1, of), what=what)

        return progress


def _with_model(result: Result, options: Options, progress: Progress) -> None:
    """By the site's own model, at the lowest priority; how soon it begins says nothing while others use it."""
    try:
        model = runtime.chat_model()
    except runtime.ModelUnavailable as reason:
        result.report.notes.append(f"Without the model: {reason}")
        return
    try:
        asyncio.run(modelled.measure(model, result, options, progress, timed=False))
    finally:
        model.engine.forget(OWNER)


def _keep(result: Result) -> None:
    figures = result.report.figures() | {"at": timezone.now().isoformat()}
    unfinished = _file().with_suffix(".new")
    unfinished.write_text(json.dumps(figures))
    unfinished.replace(_file())


def _file() -> Path:
    return Path(settings.DATA_DIR) / "memory_check.json"


background = Background()
