"""Hides contents from a template behind placeholders, and puts them back as segments of their own."""

from __future__ import annotations

import json
import re
import secrets
from dataclasses import dataclass
from typing import Any

from chat.inference.template.sandbox import Refused

_HARMLESS = re.compile(r"[\w\s.,;:!?'()/+*=-]*")  # cannot spell a control token


@dataclass(frozen=True, slots=True)
class Segment:
    """One piece of a prompt.

    `special`: the template's own part, whose control tokens count; otherwise it is somebody's text and has none.
    `message`: index of the message that the text belongs to (its content, or its reasoning, which is never exact).
    `exact`: the text is the message's whole content, unchanged, so the tokens it was sampled as may stand for it.
    """

    text: str
    special: bool
    message: int | None = None
    exact: bool = False


class Contents:
    """The texts of one prompt. A template sees letters and digits that nobody can guess, and so cannot judge them."""

    def __init__(self) -> None:
        self._nonce = "Zq" + secrets.token_hex(12)
        self._pattern = re.compile(self._nonce + r"n(\d+)x")
        self._segments: list[Segment] = []

    def hide(self, text: str, message: int | None = None, *, exact: bool = False) -> str:
        """Keep a text and return the placeholder that stands for it."""
        self._segments.append(Segment(text, False, message, exact))
        return f"{self._nonce}n{len(self._segments) - 1}x"

    def hide_in_json(self, value: Any) -> Any:
        """The same structure (a tool's description) with each text hidden that might spell a control token."""
        if isinstance(value, str) and not _HARMLESS.fullmatch(value):
            return self.hide(json.dumps(value, ensure_ascii=False)[1:-1])
        if isinstance(value, dict):
            return {self.hide_in_json(key): self.hide_in_json(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.hide_in_json(item) for item in value]
        return value

    def reveal(self, rendered: str) -> list[Segment]:
        """Cut a rendered prompt at its placeholders; raise Refused when one came back changed.

        A text that the template repeats comes twice, one that it leaves out does not come at all.
        """
        segments = []
        for position, part in enumerate(self._pattern.split(rendered)):
            if position % 2:
                segments.append(self._segments[int(part)])
            elif self._nonce[:8].lower() in part.lower():
                raise Refused("it changed the text of a message")
            else:
                segments.append(Segment(part, True))
        return [segment for segment in segments if segment.text]

    def placeholders(self, text: str) -> set[str]:
        """The placeholders in a text, in whatever number."""
        return {match.group() for match in self._pattern.finditer(text)}
