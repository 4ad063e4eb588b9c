"""Passages as they are quoted in a prompt, made of what was found: who said it, when, and what stood beside it.

Pure: the same messages with the same scores give the same passages.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from chat.memory.marks import asks
from chat.memory.prompt import Passage
from chat.memory.scores import CLEAR
from chat.memory.windows import windows

USER, ASSISTANT = "User", "Assistant"
SPEAKERS = {"user": USER, "assistant": ASSISTANT}
"""By the role of a row."""
EARLIER = "(earlier) "
_WINDOWS = 2  # of a long message that are quoted
_WORTH = 0.7  # of the best window's score that another one must have
_MOST_BEST = 2  # hits with everything beside them
_BESIDE = 120  # characters of a neighbour


@dataclass(frozen=True)
class Said:
    """A message as it is quoted."""

    pk: int
    speaker: str  # USER or ASSISTANT
    day: date
    text: str


@dataclass(frozen=True)
class Hit:
    """A message that was found, and how well, by the numbers of its windows."""

    said: Said
    scores: Mapping[int, float]
    score: float
    earlier: tuple[str, ...] = ()  # its sentences of which something newer gives another value

    @property
    def rank(self) -> tuple[float, int]:
        """Sorts the best first, of equal ones the newest."""
        return (-self.score, -self.said.pk)

    def needs(self, neighbour: Said) -> bool:
        """Whether it says little without this one: an answer without what it answers, a question without the answer."""
        if neighbour.pk < self.said.pk:
            return self.said.speaker == ASSISTANT or asks(windows(neighbour.text)[-1])
        return self.said.speaker == USER and asks(self.quote())

    def quote(self) -> str:
        """Its best windows in the order of the text, older values marked."""
        parts = windows(self.said.text)
        best = sorted(self.scores, key=lambda at: (-self.scores[at], at))[:_WINDOWS]
        worth = sorted(at for at in best if at < len(parts) and self.scores[at] >= _WORTH * self.scores[best[0]])
        text = ""
        for before, at in zip([-1, *worth], worth, strict=False):
            text += " " * bool(text) + "… " * (at > before + 1) + _on_one_line(parts[at])
        for sentence in self.earlier:
            text = text.replace(sentence, EARLIER + sentence, 1)
        return text + " …" * (worth[-1:] != [len(parts) - 1])


def compose(hits: Iterable[Hit], beside: Mapping[int, Sequence[Said]]) -> tuple[Passage, ...]:
    """The passages of the hits with what stands beside each, by its id; the best first.

    A hit comes with the question before it and the answer after it; of the best two clear ones one also sees what was
    said to them. Each message is in one passage, but for a hit that also comes by itself: that shorter passage follows
    the first one and is shown where there is no room for the neighbours.
    """
    ranked = sorted(hits, key=lambda hit: hit.rank)
    by_pk = {hit.said.pk: hit for hit in ranked}
    used: set[int] = set()
    passages = []
    for number, hit in enumerate(ranked):
        is_best = number < _MOST_BEST and hit.score >= CLEAR
        around = [
            said for said in beside.get(hit.said.pk, ()) if hit.needs(said) or (is_best and said.pk > hit.said.pk)
        ]
        group = sorted((said for said in [hit.said, *around] if said.pk not in used), key=lambda said: said.pk)
        if group:
            passages.append(_passage(group, hit, by_pk))
        if hit.said in group[:-1] or hit.said in group[1:]:
            passages.append(_passage([hit.said], hit, by_pk))
        used.update(said.pk for said in group)
    return tuple(passages)


def _passage(group: Sequence[Said], hit: Hit, hits: Mapping[int, Hit]) -> Passage:
    lines: list[str] = []
    for before, said in zip([None, *group], group, strict=False):
        day = "" if before and before.day == said.day else f"{said.day.isoformat()} "
        found = hits.get(said.pk)
        text = found.quote() if found else _clipped(said.text, from_end=said.pk < hit.said.pk)
        lines.append(f"{day}{said.speaker}: {text}")
    return Passage("\n".join(lines), tuple(said.pk for said in group))


def _clipped(text: str, *, from_end: bool) -> str:
    """The end of what came before, or the beginning of what came after."""
    line = _on_one_line(text)
    if len(line) <= _BESIDE:
        return line
    if from_end:
        return "… " + (line[-_BESIDE:].partition(" ")[2] or line[-_BESIDE:])
    return (line[:_BESIDE].rpartition(" ")[0] or line[:_BESIDE]) + " …"


def _on_one_line(text: str) -> str:
    """So that nothing in it looks like somebody's next words."""
    return " ".join(text.split())
