"""How a context is used, as the page draws it: one bar of segments, and the numbers in words."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

_LABELS = {
    "system": "Instructions",
    "facts": "Facts about you",
    "summary": "Summary",
    "digest": "Key sentences, until a summary is written",
    "left_out": "Left out",
    "pinned": "Pinned messages",
    "turns": "Messages, word for word",
    "verbatim": "Messages, word for word",
    "recalled": "Recalled passages",
    "message": "The new message",
    "free": "Free",
    "reserve": "Kept for the reply",
}


class Measured(Protocol):
    """What a gauge says: the tokens of each part of a prompt, and the limits of the context that it is for."""

    @property
    def parts(self) -> Sequence[tuple[str, int]]:
        """Kinds and tokens, in the order of the prompt."""

    @property
    def prompt(self) -> int:
        """The most that a prompt may have."""

    @property
    def high(self) -> int:
        """Above so many the oldest turns are folded; 0 where that does not matter."""

    @property
    def context(self) -> int:
        """All there is, the reserve included."""

    @property
    def reserve(self) -> int:
        """Kept for the reply."""


@dataclass(frozen=True)
class Segment:
    """A stretch of the bar; `start` and `width` are percentages as SVG takes them."""

    kind: str
    label: str
    num_tokens: int
    start: str
    width: str

    @property
    def figure(self) -> str:
        """Its tokens as people read them."""
        return f"{self.num_tokens:,}"


@dataclass(frozen=True)
class Bar:
    """A whole context. `percent` is how much of what a prompt may have is taken."""

    segments: tuple[Segment, ...]
    num_used: int
    prompt: int
    high: int
    high_at: str
    context: int
    percent: int

    @property
    def is_nearly_full(self) -> bool:
        """Above the mark at which turns are folded."""
        return self.num_used > self.high

    @property
    def words(self) -> str:
        """What a screen reader says of it."""
        return f"{self.percent} % of the context is used"

    @property
    def figures(self) -> str:
        """The same as numbers."""
        return f"{self.num_used:,} of {self.prompt:,} tokens"

    @property
    def rule(self) -> str:
        """What happens next."""
        return f"Above {self.high:,} tokens the oldest messages are summarised, after a reply and when nobody waits."


def bar(gauge: Measured) -> Bar:
    """The bar of a gauge: its parts, then what is free, then the reserve."""
    used = sum(num_tokens for _, num_tokens in gauge.parts)
    parts = [*gauge.parts, ("free", max(0, gauge.prompt - used)), ("reserve", gauge.reserve)]
    return Bar(
        segments=_segments([part for part in parts if part[1] > 0]),
        num_used=used,
        prompt=gauge.prompt,
        high=gauge.high,
        high_at=_percentage(gauge.high, gauge.context) if gauge.high else "",
        context=gauge.context,
        percent=min(100, round(100 * used / max(1, gauge.prompt))),
    )


def label_of(kind: str) -> str:
    """What people call a kind of part."""
    return _LABELS.get(kind, kind.replace("_", " ").capitalize())


def _segments(parts: Sequence[tuple[str, int]]) -> tuple[Segment, ...]:
    whole = sum(num_tokens for _, num_tokens in parts)
    segments, start = [], 0
    for kind, num_tokens in parts:
        at, width = _percentage(start, whole), _percentage(num_tokens, whole)
        segments.append(Segment(kind, label_of(kind), num_tokens, at, width))
        start += num_tokens
    return tuple(segments)


def _percentage(part: int, whole: int) -> str:
    return f"{100 * part / max(1, whole):.2f}%"
