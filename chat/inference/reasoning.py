"""Tells a model's reasoning from its answer while both stream."""

from __future__ import annotations

import re
from enum import Enum, auto

_BLANK_LINES = re.compile(r"(?:[^\S\n]*\n)*")


class _Part(Enum):
    UNDECIDED = auto()
    REASONING = auto()
    ANSWER = auto()


class ReasoningSplitter:
    """Splits one reply at the markers of the model's reasoning, however they are cut into pieces.

    Reasoning stands only at the very start of a reply, white space apart; a marker further down is text. Blank lines
    behind each marker are dropped. `open` says that the prompt already ends with the start marker.
    """

    def __init__(self, start: str, end: str, *, open: bool) -> None:  # noqa: A002  (what the prompt is)
        self._start = start.strip()
        self._end = end.strip()
        self._first = _Part.REASONING if open else _Part.ANSWER
        self._part = _Part.UNDECIDED
        self._behind_marker = open
        self._held = ""

    def push(self, text: str) -> tuple[str, str]:
        """Take the next piece of a reply; return what has become certain, as (reasoning, answer)."""
        self._held += text
        if self._part is _Part.UNDECIDED:
            self._decide()
        reasoning = self._take_reasoning() if self._part is _Part.REASONING else ""
        answer = self._take_answer() if self._part is _Part.ANSWER else ""
        return reasoning, answer

    def finish(self) -> tuple[str, str]:
        """Return what was held back. A reply that was stopped in the middle of its reasoning has no answer."""
        part = self._first if self._part is _Part.UNDECIDED else self._part
        held = "" if self._behind_marker and not self._held.strip() else self._held
        self._held = ""
        return (held, "") if part is _Part.REASONING else ("", held)

    def _decide(self) -> None:
        """Look for the start marker; a model may repeat the one that its prompt ends with."""
        text = self._held.lstrip()
        if text.startswith(self._start):
            self._held = text[len(self._start) :]
            self._part = _Part.REASONING
            self._behind_marker = True
        elif not self._start.startswith(text):
            self._part = self._first

    def _take_reasoning(self) -> str:
        if self._behind_marker:
            self._held = self._held.lstrip()
            self._behind_marker = not self._held
        reasoning, marker, rest = self._held.partition(self._end)
        if marker:
            self._held = rest
            self._part = _Part.ANSWER
            self._behind_marker = True
            return reasoning
        certain = len(self._held) - _overlap(self._held, self._end)
        reasoning, self._held = self._held[:certain], self._held[certain:]
        return reasoning

    def _take_answer(self) -> str:
        if self._behind_marker:
            if not self._held.strip():
                return ""
            self._held = _BLANK_LINES.sub("", self._held, count=1)
            self._behind_marker = False
        answer, self._held = self._held, ""
        return answer


def _overlap(text: str, marker: str) -> int:
    """How many characters at the end of a text may be the beginning of a marker."""
    longest = min(len(text), len(marker) - 1)
    return next((size for size in range(longest, 0, -1) if text.endswith(marker[:size])), 0)
