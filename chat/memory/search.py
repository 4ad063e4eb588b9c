"""The index of messages' words: SQLite's FTS5, a row for each window of a text, always within one conversation.

Rows are put in here, triggers take them out (chat/migrations/0003_search.py). What is looked for is never read from the
index alone: whoever asks reads the messages themselves, so a stale row could not show anything.
"""

import uuid
from collections.abc import Iterable, Mapping
from typing import Any

from django.db import connection, transaction

from chat.memory.wanted import spaced
from chat.memory.windows import MOST, windows

Place = tuple[int, int]
"""A message's id and the number of a window of its text."""

_MISSING = """
    SELECT id, text FROM chat_message
    WHERE conversation_id = %s AND status NOT IN ('queued', 'streaming') AND text <> ''
    AND NOT EXISTS (SELECT 1 FROM chat_search_content WHERE chat_search_content.id = chat_message.id * 4096)
"""
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
            (pk * MOST + at, conversation.hex, spaced(window))
            for pk, text in missing
            for at, window in enumerate(windows(text) or [""])
        ]
        with connection.cursor() as cursor:
            cursor.executemany("INSERT INTO chat_search (rowid, conversation, text) VALUES (%s, %s, %s)", rows)
    return len(missing)


def find(conversation: uuid.UUID, terms: Iterable[str]) -> Mapping[str, set[Place]]:
    """Where each of the terms of chat.memory.wanted stands in a conversation."""
    found: dict[str, set[Place]] = {term: set() for term in terms}
    if not found or not is_available():
        return found
    names = list(found)
    questions = [f"conversation : {_quoted(conversation.hex)} AND text : {_quoted(term)}" for term in names]
    parameters = [value for at, question in enumerate(questions) for value in (at, question)]
    for at, row in _rows(" UNION ALL ".join([_FIND] * len(names)), parameters):
        found[names[at]].add(divmod(row, MOST))
    return found


def compact() -> None:
    """Merge the index into one segment: words of deleted messages leave its pages, and wait in free ones for VACUUM."""
    if is_available():
        with connection.cursor() as cursor:
            cursor.execute("INSERT INTO chat_search (chat_search) VALUES ('optimize')")


def _missing(conversation: uuid.UUID) -> list[tuple[int, str]]:
    return _rows(_MISSING, [conversation.hex])


def _rows(statement: str, parameters: list[Any]) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        found: list[Any] = cursor.fetchall()
        return found


def _quoted(term: str) -> str:
    """As a string of FTS5's query language, in which nothing but the quotation mark means anything."""
    return '"' + term.replace('"', '""').replace("\0", "") + '"'
