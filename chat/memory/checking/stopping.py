"""The wish that a run end before it is done."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from chat.memory.checking.values import Report

End = Callable[[bool], object]
"""Ends what runs now; called with True when it must be gone at once."""


class Stopped(Exception):
    """The run has ended because somebody wished it; `report` is what had been measured, if anything."""

    def __init__(self, report: Report | None = None) -> None:
        """Keep it."""
        super().__init__("The run was stopped.")
        self.report = report


class Stopping:
    """Brings the wish from whoever has it to whatever runs, which says how it is ended. From any thread."""

    def __init__(self) -> None:
        """Nobody wishes it yet."""
        self._lock = threading.Lock()
        self._end: End | None = None
        self.is_wanted = False

    def ask(self, *, at_once: bool = False) -> None:
        """End what runs now, and whatever begins later."""
        with self._lock:
            self.is_wanted = True
            if self._end:
                self._end(at_once)

    @contextmanager
    def ended_by(self, end: End) -> Iterator[None]:
        """Inside, this is how it is ended; `end` is not called any more afterwards."""
        with self._lock:
            self._end = end
            if self.is_wanted:
                end(False)
        try:
            yield
        finally:
            with self._lock:
                self._end = None
