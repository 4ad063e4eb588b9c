"""The index of words in SQLite: its FTS5, whose rowids are 4096 times a message's id and the number of the window."""

import uuid
from collections.abc import Iterable, Sequence
from typing import Any

from django.db import connection

from chat.memory.scores import Place
from chat.memory.wanted import spaced
from chat.memory.windows import MOST

_MISSING = """
    SELECT id, role, text FROM chat_message
    WHERE status NOT IN ('queued', 'streaming') AND text <> '' AND id IN (
        SELECT id FROM chat_message
        WHERE conversation_id = %s
        AND NOT EXISTS (SELECT 1 FROM chat_search_content WHERE chat_search_content.id = chat_message.id * 4096)
    )
"""
_ADD = "INSERT INTO chat_search (rowid, conversation, text, marks) VALUES (%s, %s, %s, %s)"
_FIND = "SELECT %s, rowid FROM chat_search WHERE chat_search MATCH %s"


def has_missing(conversation: uuid.UUID) -> bool:
    """Whether a finished message is not in the index."""
    return bool(missing(conversation))


def missing(conversation: uuid.UUID) -> list[tuple[int, str, str]]:
    """Id, role and text of those that are not. A transaction holds the database's one lock."""
    return _rows(_MISSING, [conversation.hex])


def add(conversation: uuid.UUID, found: Iterable[tuple[Place, str, Sequence[str]]]) -> None:
    """Put windows in."""
    rows = [(pk * MOST + at, conversation.hex, spaced(text), " ".join(marks)) for (pk, at), text, marks in found]
    with connection.cursor() as cursor:
        cursor.executemany(_ADD, rows)


def find(conversation: uuid.UUID, terms: Sequence[str]) -> Iterable[tuple[int, Place]]:
    """Each place of a term."""
    return _find(conversation, "text", terms)


def marked(conversation: uuid.UUID, marks: Sequence[str]) -> Iterable[tuple[int, Place]]:
    """Each place of a mark."""
    return _find(conversation, "marks", marks)


def compact() -> None:
    """Merge the index into one segment: words of deleted messages leave its pages, and wait in free ones for VACUUM."""
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO chat_search (chat_search) VALUES ('optimize')")


def _find(conversation: uuid.UUID, column: str, terms: Sequence[str]) -> Iterable[tuple[int, Place]]:
    within = f"conversation : {_quoted(conversation.hex)}"
    questions = [f"{within} AND {column} : {_quoted(term)}" for term in terms]
    parameters = [value for at, question in enumerate(questions) for value in (at, question)]
    for at, row in _rows(" UNION ALL ".join([_FIND] * len(terms)), parameters):
        yield at, divmod(row, MOST)


def _rows(statement: str, parameters: list[Any]) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        found: list[Any] = cursor.fetchall()
        return found


def _quoted(term: str) -> str:
    """As a string of FTS5's query language, in which nothing but the quotation mark means anything."""
    return '"' + term.replace('"', '""').replace("\0", "") + '"'
