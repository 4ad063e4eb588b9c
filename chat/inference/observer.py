"""What the engine tells whoever measures it."""

from dataclasses import dataclass
from typing import Protocol

from chat.inference.request import Request


@dataclass(frozen=True)
class Stats:
    """A look at the engine: counts of requests and slots now, of steps, tokens and restored copies since it started.

    `parked` conversations are copies in memory, `shelved` ones in files.
    """

    running: int
    waiting: int
    slots_free: int
    slots: int
    steps: int
    tokens_read: int
    tokens_cached: int
    tokens_written: int
    parked: int
    parked_bytes: int
    shelved: int
    shelved_bytes: int
    restored: int
    tokens_restored: int


class Observer(Protocol):
    """Called in the engine's thread, so it must be quick. One that raises is not called again."""

    def stepped(self, num_sequences: int, num_tokens: int) -> None:
        """A step has read so many tokens for so many sequences."""

    def ended(self, request: Request, result: str) -> None:
        """A request has ended: `result` is a FinishReason, or `refused` when the queue was full."""


class Unobserved:
    """Nobody measures."""

    def stepped(self, num_sequences: int, num_tokens: int) -> None:
        """Nothing."""

    def ended(self, request: Request, result: str) -> None:
        """Nothing."""
