"""No byte of what was deleted stays in the database's files: not in the index, the pages, or the write-ahead log.

SQLite overwrites what is deleted (PRAGMA secure_delete, chatsite/settings.py). What is left for here are words in old
segments of the full-text index, the log, and copies that stay in a page when rows move to another one: VACUUM alone
removes those. Another database has means of its own.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from django.db import connection

from chat.memory import search
from chat.models import Fact, Message, Vector

if TYPE_CHECKING:
    from django.db.backends.utils import CursorWrapper

# Milliseconds that a checkpoint waits for readers. It holds up whoever writes meanwhile.
_WAIT_FOR_READERS = 200


@dataclass(frozen=True)
class Purged:
    """What was done: rows that should not have been there, and whether the write-ahead log is empty now."""

    num_leftovers: int
    is_complete: bool


def purge(*, rewrite: bool = False) -> Purged:
    """Remove what is left of deleted texts; `rewrite` writes the whole database anew, which takes time and memory.

    Must not be called in a transaction. When it is not complete, somebody was reading: try again.
    """
    assert not connection.in_atomic_block, "a checkpoint cannot pass a transaction"
    num_leftovers = _sweep()
    if connection.vendor != "sqlite":
        return Purged(num_leftovers, is_complete=True)
    search.compact()
    with connection.cursor() as cursor:
        if rewrite:
            cursor.execute("VACUUM")
        return Purged(num_leftovers, is_complete=_checkpoint(cursor))


def files() -> list[Path]:
    """The files in which the database's bytes are, as far as they exist."""
    name = str(connection.settings_dict["NAME"])
    return [path for path in map(Path, (name, f"{name}-wal", f"{name}-shm")) if path.is_file()]


def _sweep() -> int:
    """What somebody wrote about a message at the very moment when it was forgotten."""
    forgotten = Message.Status.FORGOTTEN
    vectors, _ = Vector.objects.filter(message__status=forgotten).delete()
    facts, _ = Fact.objects.filter(source__status=forgotten).delete()
    return vectors + facts


def _checkpoint(cursor: "CursorWrapper") -> bool:
    cursor.execute("PRAGMA busy_timeout")
    before = cursor.fetchone()[0]
    cursor.execute(f"PRAGMA busy_timeout = {_WAIT_FOR_READERS}")
    try:
        cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        busy: int = cursor.fetchone()[0]
    finally:
        cursor.execute(f"PRAGMA busy_timeout = {before}")
    return not busy
