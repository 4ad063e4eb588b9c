"""The index of messages' words: SQLite's FTS5, a row for each window of a text, always within one conversation.

Rows are put in here, triggers take them out (chat/migrations/0003_search.py). What is looked for is never read from the
index alone: whoever asks reads the messages themselves, so a stale row could not show anything.
"""

import uuid
from collections.abc import Iterable, Mapping
from typing import Any

from django.db import connection, transaction

from chat.memory.marks import marks_of
from chat.memory.passages import SPEAKERS
from chat.memory.scores import Place
from chat.memory.wanted import spaced
from chat.memory.windows import MOST, windows

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


def is_available() -> bool:
    """Whether this database has an index; others than SQLite have none yet."""
    return connection.vendor == "sqlite"


def add_missing(conversation: uuid.UUID) -> int:
    """Index the finished messages of a conversation that are not; returns how many that were."""
    if not is_available() or not _missing(conversation):
        return 0
    with transaction.atomic():  # the texts are read again under the lock: nothing comes in that has been forgotten
        missing = _missing(conversation)
        rows = [
            (pk * MOST + at, conversation.hex, spaced(window), " ".join(sorted(marks_of(SPEAKERS[role], window))))
            for pk, role, text in missing
            for at, window in enumerate(windows(text) or [""])
        ]
        with connection.cursor() as cursor:
            cursor.executemany(_ADD, rows)
    return len(missing)


def find(conversation: uuid.UUID, terms: Iterable[str]) -> Mapping[str, set[Place]]:
    """Where each of the terms of chat.memory.wanted stands in a conversation."""
    return _find(conversation, "text", terms)


def marked(conversation: uuid.UUID, marks: Iterable[str]) -> Mapping[str, set[Place]]:
    """Which windows of a conversation have each of these marks of chat.memory.marks."""
    return _find(conversation, "marks", marks)


def compact() -> None:
    """Merge the index into one segment: words of deleted messages leave its pages, and wait in free ones for VACUUM."""
    if is_available():
        with connection.cursor() as cursor:
            cursor.execute("INSERT INTO chat_search (chat_search) VALUES ('optimize')")


def _find(conversation: uuid.UUID, column: str, terms: Iterable[str]) -> Mapping[str, set[Place]]:
    found: dict[str, set[Place]] = {term: set() for term in terms}
    if not found or not is_available():
        return found
    names, within = list(found), f"conversation : {_quoted(conversation.hex)}"
    questions = [f"{within} AND {column} : {_quoted(term)}" for term in names]
    parameters = [value for at, question in enumerate(questions) for value in (at, question)]
    for at, row in _rows(" UNION ALL ".join([_FIND] * len(names)), parameters):
        found[names[at]].add(divmod(row, MOST))
    return found


def _missing(conversation: uuid.UUID) -> list[tuple[int, str, str]]:
    return _rows(_MISSING, [conversation.hex])


def _rows(statement: str, parameters: list[Any]) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        found: list[Any] = cursor.fetchall()
        return found


def _quoted(term: str) -> str:
    """As a string of FTS5's query language, in which nothing but the quotation mark means anything."""
    return '"' + term.replace('"', '""').replace("\0", "") + '"'
