"""Conversations that lost their slot: copies of their caches, kept in memory within a budget until they go on."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from chat.inference.batch import Runner
from chat.inference.request import Request

# Fewer tokens than this are read again in less time than it takes to think about them.
WORTHWHILE = 64


@dataclass(eq=False)
class Parked:
    """What a cache held: exactly these tokens of the conversation `key`, and the runner's copy of the cache."""

    key: str
    tokens: list[int]
    state: memoryview
    parked_at: float = field(default_factory=time.time)


class Shelf(Protocol):
    """Where copies go that memory has no room for."""

    def put(self, parked: Parked, *, always: bool = False) -> None:
        """Keep a copy, without holding up the caller; unless `always`, not if too many are on their way already."""

    def forget(self, key: str) -> None:
        """Drop all copies of a conversation; none of them is there any more when this returns."""

    def close(self) -> None:
        """Finish what was begun."""


class Parking:
    """Copies of caches by conversation, the least recently parked one first to go. For the engine's thread alone.

    A copy serves only requests with the key under which it was parked, and leaves when it is used: the slot has it
    then. `shelf`, if there is one, takes what falls out.
    """

    def __init__(self, runner: Runner, budget: int, shelf: Shelf | None = None) -> None:
        """`budget` is in bytes; 0 keeps nothing in memory."""
        self._runner = runner
        self._budget = budget
        self._shelf = shelf
        self._parked: list[Parked] = []  # the oldest first
        self.num_bytes = 0
        self.num_restored = 0
        self.is_closing = False  # then nothing is too much for the shelf

    @property
    def num_parked(self) -> int:
        """How many copies are in memory."""
        return len(self._parked)

    @property
    def can_trim(self) -> bool:
        """Whether a part of a cache can be used; else all of it or nothing."""
        return self._runner.info.can_trim

    def park(self, slot: int, key: str, tokens: Sequence[int]) -> None:
        """Copy what a slot holds, which is exactly these tokens of this conversation, if there is room for it."""
        if not key or not (self._budget or self._shelf) or self._has(key, tokens):
            return
        size = self._runner.state_size(slot)
        if not size or (size > self._budget and not self._shelf):
            return
        if size <= self._budget:
            self._make_room(size)
        if state := self._runner.park(slot):
            self.add(Parked(key, list(tokens), state))

    def add(self, parked: Parked) -> None:
        """Keep a copy in place of those that it continues; the oldest ones leave where the budget is exceeded."""
        for other in self._of(parked.key):
            if parked.tokens[: len(other.tokens)] == other.tokens:
                self._remove(other)
        if parked.state.nbytes > self._budget:
            self._put_away(parked)
            return
        self._make_room(parked.state.nbytes)
        self._parked.append(parked)
        self.num_bytes += parked.state.nbytes

    def take(self, request: Request, more_than: int) -> Parked | None:
        """Give away the copy that spares this request most tokens, if these are enough more than `more_than`."""
        fetched = _fetched_for(request)
        copies = [*self._of(request.cache_key), *([fetched] if fetched else [])]
        best = max(copies, key=lambda parked: self.usable(parked, request), default=None)
        if best and self.usable(best, request) < more_than + WORTHWHILE:
            best = None
        if best and best is not fetched:
            self._remove(best)
        if fetched and best is not fetched:
            self.add(fetched)
        return best

    def give_up(self, request: Request) -> None:
        """A request ends that was never given a slot: keep what was fetched for it."""
        if fetched := _fetched_for(request):
            self.add(fetched)

    def usable(self, parked: Parked, request: Request) -> int:
        """How many tokens at the beginning of the prompt a copy has; all or none where it cannot be cut."""
        return usable(parked.tokens, request.prompt, can_trim=self.can_trim)

    def restore(self, parked: Parked, slot: int) -> list[int]:
        """Put a copy into a slot in place of what is there; the tokens that the slot holds now, none on failure."""
        if self._runner.unpark(slot, parked.state) == len(parked.tokens):
            self.num_restored += 1
            return parked.tokens
        self._runner.trim(slot, 0)
        return []

    def copy(self, source: int, slot: int, tokens: list[int]) -> bool:
        """Copy what one slot holds, exactly these tokens, into another; that one is empty where it does not succeed."""
        state = self._runner.park(source)
        if state and self._runner.unpark(slot, state) == len(tokens):
            return True
        self._runner.trim(slot, 0)
        return False

    def forget(self, key: str) -> None:
        """Drop all copies of a conversation."""
        for parked in self._of(key):
            self._remove(parked)
        if self._shelf:
            self._shelf.forget(key)

    def close(self) -> None:
        """Give everything to the shelf, and wait for it."""
        self.is_closing = True
        for parked in self._parked:
            self._put_away(parked)
        if self._shelf:
            self._shelf.close()
        self._parked.clear()
        self.num_bytes = 0

    def _has(self, key: str, tokens: Sequence[int]) -> bool:
        return any(parked.tokens[: len(tokens)] == tokens for parked in self._of(key))

    def _of(self, key: str) -> list[Parked]:
        return [parked for parked in self._parked if parked.key == key] if key else []

    def _make_room(self, size: int) -> None:
        while self._parked and self.num_bytes + size > self._budget:
            oldest = self._parked[0]
            self._remove(oldest)
            self._put_away(oldest)

    def _put_away(self, parked: Parked) -> None:
        if self._shelf:
            self._shelf.put(parked, always=self.is_closing)

    def _remove(self, parked: Parked) -> None:
        self._parked.remove(parked)
        self.num_bytes -= parked.state.nbytes


def _fetched_for(request: Request) -> Parked | None:
    """What the shelf gave for a request, once; nothing when its conversation was deleted meanwhile."""
    fetched, request.fetched = request.fetched, None
    return None if request.is_forgotten else fetched


def usable(tokens: list[int], prompt: list[int], *, can_trim: bool) -> int:
    """How many tokens at the beginning of a prompt a cache with these tokens spares, the last one never."""
    count = common_prefix(tokens, prompt[:-1])
    return count if can_trim or count == len(tokens) else 0


def common_prefix(left: list[int], right: list[int]) -> int:
    """How many tokens two lists share from their beginning."""
    low, high = 0, min(len(left), len(right)) + 1
    # Slices are compared in C: alike up to `low`, and not up to `high`.
    while high - low > 1:
        middle = (low + high) // 2
        if left[low:middle] == right[low:middle]:
            low = middle
        else:
            high = middle
    return low
