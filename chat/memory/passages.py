"""Passages as they are quoted in a prompt, made of what was found: who said it, when, and what stood beside it.

Pure: the same messages with the same scores give the same passages.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from chat.memory.prompt import Passage
from chat.memory.windows import windows

USER, ASSISTANT = "User", "Assistant"
EARLIER = "(earlier) "
_WINDOWS = 2  # of a long message that are quoted
_WORTH = 0.7  # of the best window's score that another one must have
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

    Each message is in one, but for a hit that also comes by itself: that shorter passage follows the first one and is
    shown where there is no room for the neighbours.
    """
    ranked = sorted(hits, key=lambda hit: hit.rank)
    by_pk = {hit.said.pk: hit for hit in ranked}
    used: set[int] = set()
    passages = []
    for hit in ranked:
        if hit.said.pk not in used:
            group = sorted([hit.said, *beside.get(hit.said.pk, ())], key=lambda said: said.pk)
            group = [said for said in group if said.pk not in used]
            passages.append(_passage(group, hit, by_pk))
            if len(group) > 1:
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
