"""Failures counted by address, in memory: wrong keys cost no write, and after a few of them not even a look-up."""

import math
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from threading import Lock


class Failures:
    """Who failed how often of late, and who had come in from the same address with a key before.

    An address may be a whole office or a proxy. Whatever came in from there keeps coming in while others fail, so that
    a forgotten script of one person does not lock out his colleagues; all else waits, unseen. Safe to use from threads.
    """

    def __init__(
        self,
        *,
        limit: int = 5,
        seconds: float = 15 * 60,
        most: int = 10_000,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """So many failures within so many seconds; at most so many addresses and guests are remembered."""
        self._limit, self._seconds, self._most, self._clock = limit, seconds, most, clock
        self._times: OrderedDict[str | None, deque[float]] = OrderedDict()
        self._guests: OrderedDict[tuple[str | None, str], None] = OrderedDict()
        self._lock = Lock()

    def wait(self, address: str | None, guest: str) -> int:
        """Whole seconds until this guest may try from there, 0 when he may now."""
        with self._lock:
            return 0 if (address, guest) in self._guests else self._seconds_left(address)

    def add(self, address: str | None, guest: str) -> int:
        """Count a failure; returns the seconds to wait when there had been too many before this one, else 0."""
        with self._lock:
            self._guests.pop((address, guest), None)
            if seconds := self._seconds_left(address):
                return seconds  # Not counted: trying in vain must not lengthen the wait.
            self._times.setdefault(address, deque(maxlen=self._limit)).append(self._clock())
            self._times.move_to_end(address)
            if len(self._times) > self._most:
                self._times.popitem(last=False)
            return 0

    def welcome(self, address: str | None, guest: str) -> None:
        """Remember that this guest came in from there."""
        with self._lock:
            self._guests.setdefault((address, guest))
            self._guests.move_to_end((address, guest))
            if len(self._guests) > self._most:
                self._guests.popitem(last=False)

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._times.clear()
            self._guests.clear()

    def _seconds_left(self, address: str | None) -> int:
        times = self._times.get(address)
        if not times or len(times) < self._limit:
            return 0
        return max(0, math.ceil(times[0] + self._seconds - self._clock()))
