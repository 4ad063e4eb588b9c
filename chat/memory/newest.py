"""Which of the things that were found have a newer value: that one comes first, and the older ones are marked."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Self

from langchain_core.messages import BaseMessage, HumanMessage

from chat.memory.extract import Shape
from chat.memory.marks import asks
from chat.memory.passages import USER, Hit
from chat.memory.words import sentences

_LESS = 0.5  # what an older value is worth where a newer one is known
_MOST_SENTENCES = 20  # of one message that are compared


def settle(hits: Sequence[Hit], shown: Iterable[BaseMessage] = (), notes: str = "") -> list[Hit]:
    """The hits with older values marked and ranked after newer ones, and without what was said again since.

    `shown` are messages that the prompt has anyway; newer values that the person tells there count too. Of the notes
    only what says of itself that it is new counts, against what does not: they give no order. A question gives no
    value: one that was asked again stays, for it may have been answered in another way.
    """
    since = shown if hits else ()
    told = {int(turn.id): _Told.of(USER, turn.text) for turn in since if turn.id and isinstance(turn, HumanMessage)}
    told |= {hit.said.pk: _Told.of(hit.said.speaker, hit.quote()) for hit in hits}
    news = _Told.news_of(notes) if hits else None
    settled = {hit.said.pk: hit for hit in hits}
    for hit in sorted(hits, key=lambda hit: hit.said.pk):
        old = told[hit.said.pk]
        earlier: set[str] = set()
        repeated: set[str] = set()
        if news:
            earlier.update(one for one, is_repeated in news.replaced(old) if not is_repeated and not old.is_news(one))
        for pk in told:
            for sentence, is_repeated in told[pk].replaced(old) if pk > hit.said.pk else ():
                (repeated if is_repeated else earlier).add(sentence)
                if pk in settled and settled[pk].score < hit.score:
                    settled[pk] = replace(settled[pk], score=hit.score)
        if old.sentences and repeated.issuperset(old.sentences):
            del settled[hit.said.pk]
        elif earlier:
            settled[hit.said.pk] = replace(hit, earlier=tuple(sorted(earlier)), score=hit.score * _LESS)
    return list(settled.values())


@dataclass(frozen=True)
class _Told:
    """What somebody says in a message, sentence by sentence, as it is compared."""

    speaker: str
    sentences: dict[str, Shape]

    @classmethod
    def of(cls, speaker: str, text: str) -> Self:
        """The sentences of a text."""
        return cls(speaker, {one: Shape(one) for raw in sentences(text)[:_MOST_SENTENCES] if (one := raw.strip("… "))})

    @classmethod
    def news_of(cls, notes: str) -> Self:
        """What the person told that has changed, by notes whose lines begin with who speaks."""
        told = " ".join(line.removeprefix("User: ") for line in notes.splitlines() if line.startswith("User: "))
        all_told = cls(USER, {one: Shape(one) for one in sentences(told) if not one.startswith("(earlier)")})
        return cls(USER, {one: shape for one, shape in all_told.sentences.items() if shape.updates})

    def is_news(self, sentence: str) -> bool:
        """Whether one of its sentences says of itself that something has changed."""
        return self.sentences[sentence].updates

    def replaced(self, older: "_Told") -> Iterator[tuple[str, bool]]:
        """The sentences of an older message of the same person that this one replaces, and whether by the same."""
        if self.speaker == older.speaker:
            for (old, its_shape), (new, shape) in product(older.sentences.items(), self.sentences.items()):
                if shape.outdates(its_shape) and not (asks(old) or asks(new)):
                    yield old, shape.words == its_shape.words
