"""The index of messages' words: a row for each window of a text, looked into within one conversation alone.

The database's own full-text search does it, with Porter's stemmer and without stop words, for chat.memory.wanted
decides what is asked for: search_sqlite.py or search_postgresql.py. Rows are put in here, triggers take them out
(chat/migrations). What is looked for is never read from the index alone: whoever asks reads the messages themselves, so
a stale row could not show anything.
"""

import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from django.db import connection, transaction

from chat.memory import search_postgresql, search_sqlite
from chat.memory.marks import marks_of
from chat.memory.passages import SPEAKERS
from chat.memory.scores import Place
from chat.memory.windows import windows

Window = tuple[Place, str, Sequence[str]]
"""Where it stands, what it says, and its marks of chat.memory.marks."""


class Index(Protocol):
    """What a database's module does; all of it within a conversation that the caller names."""

    def has_missing(self, conversation: uuid.UUID) -> bool:
        """Whether a finished message is not in the index."""

    def missing(self, conversation: uuid.UUID) -> Iterable[tuple[int, str, str]]:
        """Id, role and text of those that are not, none of which changes before the transaction ends."""

    def add(self, conversation: uuid.UUID, found: Iterable[Window]) -> None:
        """Put windows in."""

    def find(self, conversation: uuid.UUID, terms: Sequence[str]) -> Iterable[tuple[int, Place]]:
        """For each place of a term, the term's number among `terms` and the place."""

    def marked(self, conversation: uuid.UUID, marks: Sequence[str]) -> Iterable[tuple[int, Place]]:
        """The same for marks."""


_INDEXES: Mapping[str, Index] = {"sqlite": search_sqlite, "postgresql": search_postgresql}


def add_missing(conversation: uuid.UUID) -> int:
    """Index the finished messages of a conversation that are not; returns how many that were."""
    index = _index()
    if not index.has_missing(conversation):
        return 0
    with transaction.atomic():  # the texts are read again under the lock: nothing comes in that has been forgotten
        missing = list(index.missing(conversation))
        index.add(conversation, [window for message in missing for window in _windows(*message)])
    return len(missing)


def find(conversation: uuid.UUID, terms: Iterable[str]) -> Mapping[str, set[Place]]:
    """Where each of the terms of chat.memory.wanted stands in a conversation."""
    names = list(dict.fromkeys(terms))
    return _by_name(names, _index().find(conversation, names) if names else ())


def marked(conversation: uuid.UUID, marks: Iterable[str]) -> Mapping[str, set[Place]]:
    """Which windows of a conversation have each of these marks of chat.memory.marks."""
    names = list(dict.fromkeys(marks))
    return _by_name(names, _index().marked(conversation, names) if names else ())


def _index() -> Index:
    return _INDEXES[connection.vendor]


def _windows(pk: int, role: str, text: str) -> Iterable[Window]:
    for number, window in enumerate(windows(text) or [""]):
        yield (pk, number), window, sorted(marks_of(SPEAKERS[role], window))


def _by_name(names: Sequence[str], places: Iterable[tuple[int, Place]]) -> Mapping[str, set[Place]]:
    found: dict[str, set[Place]] = {name: set() for name in names}
    for number, place in places:
        found[names[number]].add(place)
    return found
