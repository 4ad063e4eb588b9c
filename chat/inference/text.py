"""From the bytes of tokens to text: whole characters only, end markers and stop strings never shown."""

import codecs
from collections.abc import Sequence
from dataclasses import dataclass

from chat.inference.reasoning import ReasoningSplitter

# What the model may not put into a text: C0 controls but tab and newline, and DEL.
_CONTROLS = dict.fromkeys([*range(9), *range(11, 32), 127])
_QUOTES = frozenset("`\"'“‘«([<*")


@dataclass(frozen=True)
class Piece:
    """New text of a reply; `ended` says that it ends here, whatever the model would add."""

    text: str
    reasoning: str = ""
    ended: bool = False


class TextAssembler:
    """Turns one reply's tokens, as bytes, into text that can be shown at once and is never taken back."""

    def __init__(
        self, *, stop: Sequence[str], end_markers: "EndMarkers", reasoning: ReasoningSplitter | None = None
    ) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._markers = end_markers
        self._splitter = reasoning
        self._stop = StopStrings(stop)
        self._read = ""
        self._shown = ""
        self._reasoned = False

    @property
    def is_exact(self) -> bool:
        """True when the answer that was shown is exactly what the tokens say, nothing held back, cut or apart."""
        return self._read == self._shown and not self._reasoned

    def push(self, piece: bytes) -> Piece:
        """Take the bytes of one token."""
        read = self._decoder.decode(piece)
        self._read += read
        text, ended = self._markers.push(read.translate(_CONTROLS))
        return self._split(text, ended=ended)

    def finish(self) -> Piece:
        """What was held back; the bytes of a character that was never completed are dropped."""
        self._read += self._decoder.decode(b"", final=True)
        last = self._split(self._markers.finish(), ended=False)
        if last.ended:
            return last
        reasoning, text = self._splitter.finish() if self._splitter else ("", "")
        shown, ended = self._stop.push(text)
        if not ended:
            shown += self._stop.finish()
        return self._piece(last.text + shown, last.reasoning + reasoning, ended=True)

    def _split(self, text: str, *, ended: bool) -> Piece:
        reasoning, answer = self._splitter.push(text) if self._splitter else ("", text)
        shown, stopped = self._stop.push(answer)
        piece = self._piece(shown, reasoning, ended=stopped)
        return Piece(piece.text, piece.reasoning, ended=True) if ended else piece

    def _piece(self, text: str, reasoning: str, *, ended: bool) -> Piece:
        self._shown += text
        self._reasoned = self._reasoned or bool(reasoning)
        return Piece(text, reasoning, ended)


class StopStrings:
    """Finds the earliest of some texts in a stream, and holds back what could still become one."""

    def __init__(self, stop: Sequence[str]) -> None:
        self._stop = tuple(stop)
        self._held = ""
        self._hit = False

    def push(self, text: str) -> tuple[str, bool]:
        """Text that is safe to show, and whether a stop string came; nothing is shown from there on."""
        if self._hit:
            return "", True
        if not self._stop:
            return text, False
        self._held += text
        found = [place for stop in self._stop if (place := self._held.find(stop)) >= 0]
        if found:
            self._hit = True
            return self._held[: min(found)], True
        keep = longest_beginning(self._held, self._stop)
        shown, self._held = self._held[: len(self._held) - keep], self._held[len(self._held) - keep :]
        return shown, False

    def finish(self) -> str:
        """What was held back and never became a stop string."""
        shown, self._held = ("", "") if self._hit else (self._held, "")
        return shown


class EndMarkers:
    """Finds the template's end marker where a model writes it as ordinary text, token by token.

    It ends the reply only where a turn can end: not inside a code block, not behind a quote or a backtick, and only
    before a new line, another marker, the beginning of a turn, or the end of everything. Elsewhere the model is
    writing about the marker, and it stays.
    """

    def __init__(self, ends: Sequence[str] = (), starts: Sequence[str] = ()) -> None:
        self._ends = tuple(dict.fromkeys(end for end in ends if end.strip()))
        self._beginnings = frozenset(end[0] for end in self._ends)
        self._followers = (*self._ends, *(start for start in starts if start.strip()))
        self._held = ""
        self._tail = ""  # the last characters that were let through
        self._fences = 0

    def push(self, text: str) -> tuple[str, bool]:
        """Text that is safe to let through, and whether the turn has ended."""
        if not self._ends:
            return text, False
        self._held += text
        if self._beginnings.isdisjoint(self._held):  # the usual case, for each token
            return self._let_through(len(self._held)), False
        passed = ""
        while (place := self._next()) >= 0:
            passed += self._let_through(place)
            end = next(end for end in self._ends if self._held.startswith(end))
            verdict = self._is_end(self._held[len(end) :])
            if verdict is None:
                return passed, False
            if verdict:
                self._held = ""
                return passed, True
            passed += self._let_through(len(end))
        keep = longest_beginning(self._held, self._ends)
        return passed + self._let_through(len(self._held) - keep), False

    def finish(self) -> str:
        """What was held back, without an end marker at the very end."""
        rest, self._held = self._held, ""
        return "" if rest in self._ends and not self._is_quoted() else rest

    def _next(self) -> int:
        found = [place for end in self._ends if (place := self._held.find(end)) >= 0]
        return min(found, default=-1)

    def _let_through(self, count: int) -> str:
        passed, self._held = self._held[:count], self._held[count:]
        # The last two characters are looked at again, since a fence may arrive in pieces.
        self._fences += (self._tail[-2:] + passed).count("```")
        self._tail = (self._tail + passed)[-8:]
        return passed

    def _is_quoted(self) -> bool:
        return self._fences % 2 == 1 or self._tail[-1:] in _QUOTES

    def _is_end(self, after: str) -> bool | None:
        """Whether a marker that is followed by this text ends the turn; None while that cannot be told."""
        if self._is_quoted():
            return False
        if after.startswith(("\n", *self._followers)):
            return True
        return None if any(follower.startswith(after) for follower in self._followers) else False


def longest_beginning(text: str, wanted: Sequence[str]) -> int:
    """The length of the longest end of `text` that is a beginning, but not the whole, of one of the wanted texts."""
    longest = max(map(len, wanted), default=1) - 1
    for length in range(min(longest, len(text)), 0, -1):
        if any(candidate.startswith(text[-length:]) for candidate in wanted):
            return length
    return 0
