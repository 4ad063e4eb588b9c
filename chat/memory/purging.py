"""No byte of what was deleted stays in the database's files, as far as the database lets itself be told so.

What that takes is in purging_sqlite.py and purging_postgresql.py; docs/memory.md says what neither reaches.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from django.db import connection

from chat.memory import purging_postgresql, purging_sqlite
from chat.models import Fact, Message, Vector


class Files(Protocol):
    """What a database's module does."""

    def clean(self) -> bool:
        """What can be done while people work. False when somebody was reading: try again."""

    def rewrite(self) -> bool:
        """Write everything anew, which takes time and room. False when somebody was in the way: try again."""

    def size(self) -> int:
        """Bytes that the database takes."""

    def done(self, before: int) -> str:
        """What `rewrite` has done, for people; `before` is the size then."""


_FILES: Mapping[str, Files] = {"sqlite": purging_sqlite, "postgresql": purging_postgresql}


@dataclass(frozen=True)
class Purged:
    """What was done: rows that should not have been there, whether all is written anew, and whether that is all."""

    num_leftovers: int
    is_rewritten: bool
    is_complete: bool


def purge(*, rewrite: bool = False) -> Purged:
    """Remove what is left of deleted texts; `rewrite` writes the whole database anew, which takes time and memory.

    Must not be called in a transaction. When it is not complete, somebody was reading: try again.
    """
    assert not connection.in_atomic_block, "a checkpoint cannot pass a transaction"
    num_leftovers = _sweep()
    is_rewritten = rewrite and database().rewrite()
    return Purged(num_leftovers, is_rewritten, is_complete=is_rewritten == rewrite and database().clean())


def database() -> Files:
    """That of the site's database."""
    return _FILES[connection.vendor]


def _sweep() -> int:
    """What somebody wrote about a message at the very moment when it was forgotten."""
    forgotten = Message.Status.FORGOTTEN
    vectors, _ = Vector.objects.filter(message__status=forgotten).delete()
    facts, _ = Fact.objects.filter(source__status=forgotten).delete()
    return vectors + facts
