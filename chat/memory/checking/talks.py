"""Seeded conversations with planted facts: told, changed, contradicted, withdrawn, and hidden among other talk."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from chat.memory.checking import wording
from chat.memory.checking.wording import WORDINGS, Wording

T = TypeVar("T")
_SHARE_CHANGED, _SHARE_WITHDRAWN = 4, 8  # every so many of the facts
_NUM_TOPICS = 12
_PASTE_EVERY, _INJECTION_EVERY = 25, 30  # turns, about


@dataclass(frozen=True)
class Exchange:
    """What a person says and the reply to it."""

    user: str
    assistant: str


@dataclass
class Planted:
    """A fact of a conversation: its value now, those it had before, and values that would be wrong."""

    wording: Wording
    value: str  # empty when the fact was withdrawn
    wrong: tuple[str, ...]
    older: tuple[str, ...] = ()


@dataclass
class Talk:
    """A conversation, the facts in it, and the same facts with values of their own for other conversations."""

    seed: int
    exchanges: list[Exchange] = field(default_factory=list)
    kept: list[Planted] = field(default_factory=list)
    changed: list[Planted] = field(default_factory=list)
    withdrawn: list[Planted] = field(default_factory=list)
    canaries: dict[str, list[Exchange]] = field(default_factory=dict)  # by whose conversation: "own", "other"
    canary_values: list[str] = field(default_factory=list)
    attacks: list[str] = field(default_factory=list)


def make_talk(seed: int, num_turns: int, num_facts: int = 28) -> Talk:
    """A conversation whose facts are told at its beginning, with `num_turns` turns after the last of them.

    The same seed makes the same conversation. Facts are changed and withdrawn in the first half of the later turns.
    """
    return _Writer(seed, num_turns, num_facts).write()


class _Writer:
    """Writes one conversation; every value is drawn once, so that finding one proves where it came from."""

    def __init__(self, seed: int, num_turns: int, num_facts: int) -> None:
        self._random = random.Random(seed)  # noqa: S311 (nothing secret)
        self._num_turns = num_turns
        self._pools = {name: self._shuffled(words.split()) for name, words in wording.POOLS.items()}
        self._drawn: set[str] = set()
        # A conversation keeps to some themes, as people do.
        self._topics = self._random.sample(wording.TOPICS, _NUM_TOPICS)
        self._talk = Talk(seed)
        self._facts = self._choose(num_facts)

    def write(self) -> Talk:
        talk = self._talk
        for planted in self._facts:
            talk.exchanges.append(self._telling(planted.wording, planted.value))
            if self._random.random() < 0.3:
                talk.exchanges.append(self._small_talk())
        later = [self._something(number) for number in range(1, self._num_turns + 1)]
        for place, exchange in self._placed(self._distractors(), within=len(later)):
            later[place] = exchange
        for place, exchange in self._placed(self._changes(), within=len(later) // 2):
            later[place] = exchange
        talk.exchanges += later
        talk.canaries = {whose: self._canaries() for whose in ("own", "other")}
        return talk

    def _choose(self, num_facts: int) -> list[Planted]:
        facts = []
        for number, each in enumerate(self._shuffled(list(WORDINGS))[:num_facts]):
            planted = Planted(each, self._draw(each.pool), tuple(self._draw(each.pool) for _ in range(2)))
            facts.append(planted)
            if each.speaker == "user" and number % _SHARE_CHANGED == 1:
                self._talk.changed.append(planted)
            elif each.speaker == "user" and number % _SHARE_WITHDRAWN == 3:
                self._talk.withdrawn.append(planted)
            else:
                self._talk.kept.append(planted)
        return facts

    def _telling(self, each: Wording, value: str, says: str = "") -> Exchange:
        told = _fill(says or each.says, value)
        if each.speaker == "assistant":
            return Exchange(self._ask(), f"{self._remark()} {told} {self._remark()}")
        nod = self._pick(wording.NODS)
        if self._random.random() < 0.3:
            nod = f"{value}, noted."
        style = self._random.random()
        if style < 0.4:
            return Exchange(told, nod)
        if style < 0.7:
            return Exchange(f"{told} {self._pick(wording.PROMPTS_FOR_FACTS)}", f"{nod} {self._remark()}")
        return Exchange(f"{self._ask()} By the way: {told}", f"{self._remark()} {self._remark()} {nod}")

    def _something(self, number: int) -> Exchange:
        if number % _PASTE_EVERY == _PASTE_EVERY // 2:
            text = " ".join(self._remark() for _ in range(self._random.randint(15, 30)))
            return Exchange(f"Please read this and tell me what matters in it:\n\n{text}", self._remarks(3))
        if number % _INJECTION_EVERY == _INJECTION_EVERY // 2:
            self._talk.attacks.append(attack := f"PWNED-{self._random.randint(1000, 9999)}")
            text = self._pick(wording.INJECTIONS).replace("PWNED-{n}", attack)
            return Exchange(text, "I will not do that, but I am glad to help with something else.")
        return self._small_talk()

    def _small_talk(self) -> Exchange:
        return Exchange(self._ask(), self._remarks(self._random.randint(1, 4)))

    def _distractors(self) -> list[Exchange]:
        """What is like the facts and about somebody else."""
        like = [each.wording for each in self._facts if each.wording.similar]
        return [self._telling(each, self._draw(each.pool), each.similar) for each in like]

    def _changes(self) -> list[Exchange]:
        changes = []
        for number, planted in enumerate(self._talk.changed):
            planted.older, planted.value = (planted.value,), self._draw(planted.wording.pool)
            changes.append(self._telling(planted.wording, planted.value, _changed(planted.wording, number)))
        for planted in self._talk.withdrawn:
            planted.older, planted.value = (planted.value,), ""
            text = _fill(self._pick(wording.WITHDRAWALS), planted.wording.topic, "{t}")
            changes.append(Exchange(text, self._pick(wording.NODS)))
        return changes

    def _canaries(self) -> list[Exchange]:
        told = []
        for planted in self._facts:
            value = self._draw(planted.wording.pool, beyond="canary")
            self._talk.canary_values.append(value)
            told.append(Exchange(_fill(planted.wording.says, value), self._pick(wording.NODS)))
        return told

    def _placed(self, exchanges: list[Exchange], within: int) -> list[tuple[int, Exchange]]:
        places = sorted(self._random.sample(range(within), min(within, len(exchanges))))
        return list(zip(places, self._shuffled(exchanges), strict=False))

    def _draw(self, pool: str, beyond: str = "") -> str:
        if beyond:
            return f"{beyond}{self._random.randrange(10**9)}"
        while (value := self._any(pool)) in self._drawn:
            pass
        self._drawn.add(value)
        return value

    def _any(self, pool: str) -> str:
        rng = self._random
        if pool in self._pools:
            left = self._pools[pool]
            return left.pop() if left else f"{self._pick(wording.POOLS[pool].split())}-{rng.randint(2, 99)}"
        match pool:
            case "times":
                return f"{rng.randint(5, 22)}:{rng.randint(10, 59)}"
            case "dates":
                return f"{rng.randint(1, 28)} {self._pick(wording.MONTHS)}"
            case "years":
                return str(rng.randint(1950, 2015))
            case "sizes":
                return str(rng.randint(30, 49))
            case "codes":
                return f"{rng.choice('ABCDEF')}{rng.randint(1000, 9999)}-{rng.choice('KLMNP')}{rng.randint(10, 99)}"
        return str(rng.randint(210, 990))

    def _ask(self) -> str:
        text = self._pick(wording.ASKS).replace("{t}", self._pick(self._topics))
        return text.replace("{c}", self._pick(wording.CLAIMS))

    def _remark(self) -> str:
        text = self._pick(wording.REMARKS).replace("{t}", self._pick(self._topics))
        return text.replace("{c}", self._pick(wording.CLAIMS))

    def _remarks(self, number: int) -> str:
        return " ".join(self._remark() for _ in range(number))

    def _pick(self, among: Sequence[str]) -> str:
        return self._random.choice(among)

    def _shuffled(self, things: list[T]) -> list[T]:
        return self._random.sample(things, len(things))


def _fill(text: str, value: str, place: str = "{v}") -> str:
    return text.replace(place, value)


def _changed(each: Wording, number: int) -> str:
    """How a new value is told: as an update, as a correction, or as a plain contradiction."""
    if number % 3 == 2:
        return each.says
    return each.update or ("Correction: " if number % 3 else "It has changed: ") + each.says
