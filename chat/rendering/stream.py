"""A reply rendered while it is being written: what is final once, the open end again and again."""

import re
from dataclasses import dataclass
from time import thread_time
from typing import Any

from django.utils.safestring import SafeString

from chat.rendering.blocks import Block, normalize, render, render_blocks

# Processor time for the open end of one reply: at first freely, then so much for each character. When it is used up
# (a very long block, a slow machine) the open end is drawn again only when it has grown by an
# eighth, and by more the more has been spent.
FREE_SECONDS = 0.5
SECONDS_A_CHARACTER = 10e-6
_GROWTH = 1 / 8

# A last line that begins, or may begin, a fence: whether it is code is not known before the line ends.
_FENCE = re.compile(r"(?:[ \t>]|[-*+][ \t]|\d{1,9}[.)][ \t])*(?:`{1,2}|`{3,}[^`]*|~{1,2}|~{3,}.*)")
_MAX_HELD_CHARACTERS = 200


@dataclass(frozen=True)
class Patch:
    """What changes in the page: HTML to append to what is final, and HTML that takes the place of the open end."""

    closed: str
    open: str


class RenderedStream:
    """The HTML of a growing text. One thread at a time; nothing in it waits or raises."""

    def __init__(self) -> None:
        """Begin with an empty text."""
        self._parts: list[str] = []
        self._tail = ""  # from the first block that is not final
        self._ends_with_cr = False
        self._definitions: dict[str, Any] = {}
        self._footnotes: dict[str, Any] = {}
        self._open = ""
        self._drawn = 0  # characters of the tail when it was last drawn
        self._seconds = 0.0
        self._num_characters = 0

    def push(self, text: str) -> Patch:
        """Take the text that has arrived since the last push.

        All `closed` so far and the last `open` together are what `render` makes of the text so far, except that the
        start of a fence waits for the end of its line, that a link's address which comes later is not known, and that a
        very long open end may lag behind.
        """
        self._take(text)
        if not self._is_affordable():
            return Patch("", self._open)
        started = thread_time()
        closed = self._draw()
        self._seconds += thread_time() - started
        return Patch(closed, self._open)

    def finish(self) -> SafeString:
        """The whole reply, rendered at once."""
        return render("".join(self._parts))

    def _take(self, text: str) -> None:
        self._parts.append(text)
        self._num_characters += len(text)
        # A carriage return at the very end may be half of a line's end.
        text = "\r" + text if self._ends_with_cr else text
        self._ends_with_cr = text.endswith("\r")
        self._tail += normalize(text.removesuffix("\r"))

    def _is_affordable(self) -> bool:
        overspent = self._seconds / (FREE_SECONDS + SECONDS_A_CHARACTER * self._num_characters)
        return overspent <= 1 or len(self._tail) >= self._drawn * (1 + _GROWTH * overspent**2)

    def _draw(self) -> str:
        shown = self._tail + "\n" * self._ends_with_cr
        shown = shown[: len(shown) - held(shown)]
        blocks = render_blocks(shown, self._definitions, self._footnotes)
        num_final = _num_final(shown, blocks)
        final, unsettled = blocks[:num_final], blocks[num_final:]
        if final:
            self._tail = self._tail[final[-1].end :]
        for block in final:
            self._definitions |= block.definitions
        self._drawn = len(self._tail)
        self._open = "".join(block.html for block in unsettled)
        return "".join(block.html for block in final)


def held(text: str) -> int:
    """How many characters at the end wait, because they may be the start of a fence."""
    last_line = text[text.rfind("\n") + 1 :]
    return len(last_line) if len(last_line) <= _MAX_HELD_CHARACTERS and _FENCE.fullmatch(last_line) else 0


def _num_final(source: str, blocks: list[Block]) -> int:
    """How many blocks cannot change any more: all before the last one that is certain to begin where it does."""
    for index in range(len(blocks) - 1, 0, -1):
        if _begins_for_sure(source, blocks[index - 1], blocks[index]):
            return index
    return 0


def _begins_for_sure(source: str, before: Block, block: Block) -> bool:
    line_before = source[before.start : block.start - 1].rpartition("\n")[2]
    if line_before.strip(" \t"):
        # It could still be the rest of a link's definition, or no table at all.
        return bool(before.html) and source.count("\n", block.start) > 1
    # "1" is a paragraph and "1." goes on with the list; what begins with a letter is neither.
    first = source[block.start :].lstrip(" \t")[:1]
    return first.isalpha() or "\n" in source[block.start :]
