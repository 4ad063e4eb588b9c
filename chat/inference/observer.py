"""What the engine tells whoever measures it."""

from typing import Protocol

from chat.inference.request import Request


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
