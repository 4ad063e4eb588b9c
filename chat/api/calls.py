"""Finds the calls of tools in what a model writes, while it writes it."""

from collections.abc import Iterable
from typing import Any, Protocol

Delta = dict[str, Any]


class Reader(Protocol):
    """Turns the text of a reply into deltas of OpenAI's messages."""

    def push(self, text: str) -> Iterable[Delta]:
        """Take more text."""

    def finish(self) -> Iterable[Delta]:
        """What was held back."""


class PlainReader:
    """For a reply without tools: all is text."""

    def push(self, text: str) -> Iterable[Delta]:
        """The text."""
        return [{"content": text}] if text else []

    def finish(self) -> Iterable[Delta]:
        """Nothing is held back."""
        return []
