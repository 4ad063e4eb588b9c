"""A text in windows of a few sentences: what the index of old messages is made of, and what recall quotes."""

import re

LENGTH = 240  # characters that sentences are put together to
MOST = 4096  # windows of one message; the last one holds all the rest
_LONGEST = 2 * LENGTH  # of a sentence that is not cut
_END = re.compile(r"(?<=[.!?…])[\"'”’)*_]*\s+|(?<=[。！？])|\n+")


def windows(text: str) -> list[str]:
    """The whole text in order, cut between sentences, else between words; the same text gives the same windows."""
    found: list[str] = []
    for piece in _pieces(text):
        if found and (len(found) == MOST or len(found[-1]) + len(piece) <= LENGTH):
            found[-1] += piece
        else:
            found.append(piece)
    return [window.strip() for window in found if window.strip()]


def _pieces(text: str) -> list[str]:
    ends = [match.end() for match in _END.finditer(text)]
    pieces = [text[start:end] for start, end in zip([0, *ends], [*ends, len(text)], strict=True)]
    return [part for piece in pieces for part in _cut(piece)]


def _cut(piece: str) -> list[str]:
    """A sentence that is too long, in parts that end after white space where there is some."""
    parts = []
    while len(piece) > _LONGEST:
        at = max(piece.rfind(mark, LENGTH // 2, LENGTH) for mark in " \t") + 1 or LENGTH
        parts.append(piece[:at])
        piece = piece[at:]
    return [*parts, piece] if piece else parts
