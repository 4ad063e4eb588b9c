"""The index of words in PostgreSQL: a tsvector for each window, with the conversation and the marks as words of it.

Those two begin with a colon, which no word does. So one GIN index answers everything, and looks at nothing of other
conversations. Words are cut here, as FTS5 does it, since PostgreSQL's own parser makes other things of 'tulip-77' and
goes by the locale of each database.
"""

import re
import unicodedata
import uuid
from collections.abc import Iterable, Sequence
from typing import Any

from django.db import connection

from chat.memory.scores import Place
from chat.memory.wanted import spaced

_MISSING = """
    FROM chat_message
    WHERE conversation_id = %s AND status NOT IN ('queued', 'streaming') AND text <> ''
    AND NOT EXISTS (SELECT FROM chat_search WHERE chat_search.message_id = chat_message.id)
"""
# A message that somebody is changing at this moment is left for the next time: nobody waits here, and no lock that is
# waited for can close a circle.
_READ = f"SELECT id, role, text {_MISSING} ORDER BY id FOR SHARE OF chat_message SKIP LOCKED"
# The stem of a word as a lexeme; words are letters, digits and marks, so there is nothing to escape.
_STEM = "'''' || (ts_lexize('chat_porter', word))[1] || ''''"
_ADD = f"""
    INSERT INTO chat_search (message_id, number, words)
    SELECT %s, %s, (%s || coalesce(string_agg({_STEM} || ':' || least(at, 16383), ' '), ''))::tsvector
    FROM unnest(%s::text[]) WITH ORDINALITY AS said (word, at)
    ON CONFLICT DO NOTHING
"""  # noqa: S608
_FIND = f"""
    SELECT asked.at, message_id, number
    FROM unnest(%s::text[]) WITH ORDINALITY AS asked (term, at)
    CROSS JOIN LATERAL (
        SELECT string_agg({_STEM}, ' <-> ' ORDER BY place)::tsquery AS phrase
        FROM unnest(string_to_array(term, ' ')) WITH ORDINALITY AS part (word, place)
    ) AS stemmed
    JOIN chat_search ON words @@ (%s::tsquery && phrase)
"""  # noqa: S608
_MARKED = """
    SELECT asked.at, message_id, number
    FROM unnest(%s::text[]) WITH ORDINALITY AS asked (mark, at)
    JOIN chat_search ON words @@ (%s::tsquery && mark::tsquery)
"""
_LONGEST = 500  # characters of a word; a lexeme may have 2046 bytes
_DIACRITICS = re.compile("(?<=[a-z])[\u0300-\u036f]+")


def has_missing(conversation: uuid.UUID) -> bool:
    """Whether a finished message is not in the index."""
    return bool(_rows(f"SELECT 1 {_MISSING} LIMIT 1", [conversation]))


def missing(conversation: uuid.UUID) -> list[tuple[int, str, str]]:
    """Id, role and text of those that are not, locked against changes until the transaction ends."""
    return _rows(_READ, [conversation])


def add(conversation: uuid.UUID, found: Iterable[tuple[Place, str, Sequence[str]]]) -> None:
    """Put windows in; one that somebody else has put in meanwhile is the same."""
    rows = [
        (pk, at, " ".join([_within(conversation), *map(_mark, marks), ""]), _words(text))
        for (pk, at), text, marks in found
    ]
    with connection.cursor() as cursor:
        cursor.executemany(_ADD, rows)


def find(conversation: uuid.UUID, terms: Sequence[str]) -> Iterable[tuple[int, Place]]:
    """Each place of a term; one of several words is a phrase."""
    return _places(_FIND, [[" ".join(_words(term)) for term in terms], _within(conversation)])


def marked(conversation: uuid.UUID, marks: Sequence[str]) -> Iterable[tuple[int, Place]]:
    """Each place of a mark."""
    return _places(_MARKED, [[_mark(mark) for mark in marks], _within(conversation)])


def _places(statement: str, parameters: list[Any]) -> Iterable[tuple[int, Place]]:
    for at, pk, number in _rows(statement, parameters):
        yield at - 1, (pk, number)


def _within(conversation: uuid.UUID) -> str:
    return _mark(conversation.hex)


def _mark(name: str) -> str:
    return f"':{name}'"


def _words(text: str) -> list[str]:
    """What FTS5's unicode61 makes of it: runs of letters, digits and marks, without the diacritics of Latin letters."""
    text = unicodedata.normalize("NFC", _DIACRITICS.sub("", unicodedata.normalize("NFD", spaced(text))))
    letters = "".join(char if unicodedata.category(char)[0] in "LNM" else " " for char in text)
    return [word[:_LONGEST] for word in letters.split()]


def _rows(statement: str, parameters: list[Any]) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        found: list[Any] = cursor.fetchall()
        return found
