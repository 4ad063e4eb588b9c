"""Which of the things that were found have a newer value: that one comes first, and the older ones are marked."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Self

from langchain_core.messages import BaseMessage, HumanMessage

from chat.memory.extract import is_older
from chat.memory.marks import asks
from chat.memory.passages import ASSISTANT, USER, Hit
from chat.memory.words import sentences, words

_LESS = 0.5  # what an older value is worth where a newer one is known
_MOST_SENTENCES = 40  # of one message that are compared
_ALIKE = 2  # words that two sentences about one thing share at least


@dataclass(frozen=True)
class _Sentence:
    text: str
    words: frozenset[str]


def settle(hits: Sequence[Hit], shown: Iterable[BaseMessage] = ()) -> list[Hit]:
    """The hits with older values marked and ranked after newer ones, and without what was said again since.

    `shown` are messages that the prompt has anyway; newer values in them count too. A question
    gives no value: one that was asked again stays, for it may have been answered in another way.
    """
    told = {int(turn.id): _Told.of(_speaker(turn), turn.text) for turn in shown if turn.id}
    told |= {hit.said.pk: _Told.of(hit.said.speaker, hit.said.text) for hit in hits}
    settled = {hit.said.pk: hit for hit in hits}
    for hit in sorted(hits, key=lambda hit: hit.said.pk):
        old = told[hit.said.pk]
        earlier: set[str] = set()
        repeated: set[str] = set()
        for pk in told:
            for sentence, is_repeated in told[pk].replaced(old) if pk > hit.said.pk else ():
                (repeated if is_repeated else earlier).add(sentence)
                if pk in settled and settled[pk].score < hit.score:
                    settled[pk] = replace(settled[pk], score=hit.score)
        if repeated.issuperset(one.text for one in old.sentences) and old.sentences:
            del settled[hit.said.pk]
        elif earlier:
            settled[hit.said.pk] = replace(hit, earlier=tuple(sorted(earlier)), score=hit.score * _LESS)
    return list(settled.values())


@dataclass(frozen=True)
class _Told:
    speaker: str
    sentences: list[_Sentence]

    @classmethod
    def of(cls, speaker: str, text: str) -> Self:
        """The sentences of a text."""
        return cls(speaker, [_Sentence(one, frozenset(words(one))) for one in sentences(text)[:_MOST_SENTENCES]])

    def replaced(self, older: "_Told") -> Iterator[tuple[str, bool]]:
        """The sentences of an older message of the same person that this one replaces, and whether by the same."""
        for old, new in product(older.sentences, self.sentences if self.speaker == older.speaker else ()):
            if len(old.words & new.words) >= _ALIKE and not asks(old.text) and is_older(old.text, new.text):
                yield old.text, old.words == new.words


def _speaker(turn: BaseMessage) -> str:
    return USER if isinstance(turn, HumanMessage) else ASSISTANT
