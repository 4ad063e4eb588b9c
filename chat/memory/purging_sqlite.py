"""SQLite's files without what was deleted: the index merged, the log emptied, the whole written anew.

SQLite overwrites what is deleted (PRAGMA secure_delete, chatsite/databases.py). What is left for here are words in old
segments of the full-text index, the log, and copies that stay in a page when rows move to another one: VACUUM alone
removes those.
"""

from pathlib import Path

from django.db import connection

from chat.memory import search_sqlite

# Milliseconds that a checkpoint waits for readers. It holds up whoever writes meanwhile.
_WAIT_FOR_READERS = 200


def clean() -> bool:
    """Merge the index and empty the write-ahead log. False when somebody was reading."""
    search_sqlite.compact()
    return _checkpoint()


def rewrite() -> bool:
    """Write the whole file anew, in which the index is merged first."""
    search_sqlite.compact()
    with connection.cursor() as cursor:
        cursor.execute("VACUUM")
    return True


def files() -> list[Path]:
    """The files in which the database's bytes are, as far as they exist."""
    name = str(connection.settings_dict["NAME"])
    return [path for path in map(Path, (name, f"{name}-wal", f"{name}-shm")) if path.is_file()]


def size() -> int:
    """Bytes of all of them."""
    return sum(path.stat().st_size for path in files())


def done(before: int) -> str:
    """For people."""
    return (
        f"Merged the index of words, wrote the database anew: {before:,} bytes, now {size():,}.\n"
        "The write-ahead log is empty."
    )


def _checkpoint() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA busy_timeout")
        before = cursor.fetchone()[0]
        cursor.execute(f"PRAGMA busy_timeout = {_WAIT_FOR_READERS}")
        try:
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            busy: int = cursor.fetchone()[0]
        finally:
            cursor.execute(f"PRAGMA busy_timeout = {before}")
    return not busy
