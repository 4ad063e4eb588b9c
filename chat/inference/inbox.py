"""What other threads ask of the engine's thread, and how they interrupt a step of it that is in their way."""

import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from chat.inference.batch import Batch, Runner
from chat.inference.request import EngineFailed, Event, Priority, Request

Deliver = Callable[[Event | Exception], None]


@dataclass
class Asked:
    """What has been asked since the last time, each kind in its order."""

    arrived: list[tuple[Request, Deliver]] = field(default_factory=list)
    cancelled: list[Request] = field(default_factory=list)
    calls: list[Callable[[], None]] = field(default_factory=list)
    is_closing: bool = False


class Inbox:
    """Filled by any thread, emptied by the engine's between two steps."""

    def __init__(self, runner: Runner) -> None:
        """`runner` is interrupted when something cannot wait for the end of its step."""
        self._runner = runner
        self._changed = threading.Condition()
        # Guarded by _changed, like what the engine is doing right now.
        self._arrived: deque[tuple[Request, Deliver]] = deque()
        self._cancelled: deque[Request] = deque()
        self._calls: deque[Callable[[], None]] = deque()
        self._current: Batch | None = None
        self._closing = False

    def __len__(self) -> int:
        """How many requests have not been looked at."""
        return len(self._arrived)

    def add(self, request: Request, deliver: Deliver) -> None:
        """A person's request interrupts background work. Raises EngineFailed when the inbox is closed."""
        with self._changed:
            if self._closing:
                raise EngineFailed("The model has been shut down.")
            self._arrived.append((request, deliver))
            if request.priority is Priority.PERSON and self._works_for_nobody():
                self._runner.interrupt()
            self._changed.notify()

    def cancel(self, request: Request) -> None:
        """End a request; a step that reads its prompt is interrupted."""
        with self._changed:
            request.is_cancelled = True
            self._cancelled.append(request)
            if self._reads(request):
                self._runner.interrupt()
            self._changed.notify()

    def call(self, function: Callable[[], None]) -> None:
        """Have something done in the engine's thread, after what was asked before."""
        with self._changed:
            self._calls.append(function)
            self._changed.notify()

    def close(self) -> None:
        """Take nothing more, and end the running step. Safe to call twice."""
        with self._changed:
            self._closing = True
            self._runner.interrupt()
            self._changed.notify()

    def take(self, *, waits: bool) -> Asked:
        """For the engine's thread: everything that was asked; with `waits`, not before there is something."""
        with self._changed:
            while waits and not (self._closing or self._arrived or self._cancelled or self._calls):
                self._changed.wait()
            asked = Asked(list(self._arrived), list(self._cancelled), list(self._calls), self._closing)
            self._arrived.clear()
            self._cancelled.clear()
            self._calls.clear()
            if not self._closing:
                self._runner.resume()
            return asked

    @contextmanager
    def working_on(self, batch: Batch) -> Iterator[bool]:
        """For the engine's thread, around a step; False when that step is not wanted any more."""
        with self._changed:
            is_wanted = not (self._cancelled or self._closing)
            self._current = batch if is_wanted else None
        try:
            yield is_wanted
        finally:
            with self._changed:
                self._current = None

    def _works_for_nobody(self) -> bool:
        return self._current is not None and all(
            work.request.priority is not Priority.PERSON for work in self._current.works
        )

    def _reads(self, request: Request) -> bool:
        return self._current is not None and any(
            work.request is request and len(work.tokens) > 1 for work in self._current.works
        )
