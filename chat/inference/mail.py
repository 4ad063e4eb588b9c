"""The way from the engine's thread to event loops: a step's events in one go, so that each loop wakes once a step."""

import asyncio
import math
import time
from collections import deque
from collections.abc import Callable
from typing import Any

Put = Callable[[Any], None]


class Mail:
    """Keeps events until `flush`. The engine flushes right before it decodes: what the loops then do costs it nothing.

    An event that woke its loop at once would have it compete for the interpreter with the sampling of the same step.
    """

    def __init__(self) -> None:
        self._flushed_at = -math.inf
        self._events: deque[tuple[asyncio.AbstractEventLoop, Put, Any, Callable[[], None]]] = deque()

    def box(self, put: Put, on_closed: Callable[[], None]) -> Put:
        """A function for any thread, which has `put` called in the running loop; `on_closed` when that is closed."""
        loop = asyncio.get_running_loop()
        return lambda event: self._events.append((loop, put, event, on_closed))

    def flush(self, *, within: float = 0.0) -> None:
        """From any thread: wake each loop that has something to get, unless that was done `within` the last seconds."""
        now = time.monotonic()
        if now < self._flushed_at + within:
            return
        self._flushed_at = now
        by_loop: dict[asyncio.AbstractEventLoop, list[tuple[Put, Any, Callable[[], None]]]] = {}
        while self._events:
            loop, put, event, on_closed = self._events.popleft()
            by_loop.setdefault(loop, []).append((put, event, on_closed))
        for loop, events in by_loop.items():
            try:
                loop.call_soon_threadsafe(_hand_out, events)
            except RuntimeError:  # it is closed: nobody listens any more
                for _, _, on_closed in events:
                    on_closed()


def _hand_out(events: list[tuple[Put, Any, Callable[[], None]]]) -> None:
    for put, event, _ in events:
        put(event)
