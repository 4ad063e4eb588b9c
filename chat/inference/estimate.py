"""How long a waiting request will wait: from measured speeds, and from what those before it have still to do."""

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from chat.inference.batch import Batch
from chat.inference.request import Priority, Request

# What a step's figures keep of their weight with each further step: the last few hundred steps count.
_STEP_FADES = 0.99
_REPLY_FADES = 0.8


class Rate:
    """A moving average of something a second; both sums fade, so that long steps weigh more than short ones."""

    def __init__(self, guess: float) -> None:
        """`guess` is taken for what was seen until there is more."""
        self._count, self._seconds = guess, 1.0

    def add(self, count: float, seconds: float) -> None:
        """So many more in so many seconds."""
        self._count = self._count * _STEP_FADES + count
        self._seconds = self._seconds * _STEP_FADES + seconds

    @property
    def per_second(self) -> float:
        """The average."""
        return self._count / max(self._seconds, 1e-9)


class Speeds:
    """What the engine was seen to do lately: read, write, and how much of both a reply takes."""

    def __init__(self) -> None:
        """Until something was seen: a small model on a small machine."""
        self.read = Rate(200)  # tokens of prompts
        self.write = Rate(20)  # tokens of one reply
        self.reply_tokens = 150.0
        self.share_read = 0.5  # of a prompt; the rest was cached

    def stepped(self, batch: Batch, seconds: float) -> None:
        """A step has done all its work in this time."""
        num_writers = sum(work.request.is_writing for work in batch.works)
        if num_read := batch.num_tokens - num_writers:
            self.read.add(num_read, seconds)
        if num_writers:
            self.write.add(1, seconds)

    def ended(self, request: Request) -> None:
        """A request that had a slot has ended."""
        if request.priority is Priority.PERSON and request.is_writing:
            self.reply_tokens += (1 - _REPLY_FADES) * (request.num_generated - self.reply_tokens)
            share = 1 - request.num_cached / len(request.prompt)
            self.share_read += (1 - _REPLY_FADES) * (share - self.share_read)


@dataclass(frozen=True)
class Forecast:
    """Seconds until a waiting request gets its slot, and until its first token."""

    slot: float
    first_token: float


def forecast(
    running: Iterable[Request], waiting: Sequence[Request], num_slots: int, speeds: Speeds
) -> dict[Request, Forecast]:
    """What comes for each of those who wait, given in their order.

    Prompts are read one after the other, replies are written side by side; background work gives way and counts
    nothing. Nobody knows how long a reply gets: a typical one is assumed, and of one that is longer already half as
    much again.
    """
    reading_until, busy = 0.0, []
    for request in running:
        if request.priority is Priority.PERSON:
            if not request.is_writing:
                reading_until += (len(request.prompt) - request.num_computed) / speeds.read.per_second
            busy.append((0.0 if request.is_writing else reading_until) + _writing(request, speeds))
    free_at = sorted(busy)[:num_slots] + [0.0] * (num_slots - len(busy))
    heapq.heapify(free_at)
    expected = {}
    for request in waiting:
        slot = free_at[0]
        reading_until = max(slot, reading_until) + _to_read(request, speeds) / speeds.read.per_second
        expected[request] = Forecast(slot, reading_until)
        heapq.heapreplace(free_at, reading_until + _writing(request, speeds))
    return expected


def _to_read(request: Request, speeds: Speeds) -> float:
    return 1 + len(request.prompt) * speeds.share_read


def _writing(request: Request, speeds: Speeds) -> float:
    typical, done = speeds.reply_tokens, request.num_generated
    left = typical - done if done < typical else done / 2
    return max(1.0, min(left, request.sampling.max_tokens - done)) / speeds.write.per_second
