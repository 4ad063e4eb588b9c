"""Removes every byte of deleted texts from the data directory."""

import time
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError, connection

from chat.memory.purging import files, purge

_OUT_OF_REACH = (
    "Out of reach: backups and exports, snapshots and journals of the file system, blocks that a disk has set aside, "
    "and drafts in people's browsers. Logs hold no text of conversations."
)


class Command(BaseCommand):
    help = (
        "Write the database anew, so that no byte of what was deleted or forgotten is left in its files. The site may "
        "run meanwhile; messages wait a moment. Takes as much memory as the database has bytes."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--wait", type=int, default=30, help="seconds to wait for whoever reads (30)")

    def handle(self, *args: Any, wait: int, **options: Any) -> None:
        before = _size()
        try:
            done = purge(rewrite=True)
            until = time.monotonic() + wait
            while not done.is_complete and time.monotonic() < until:
                time.sleep(0.5)
                done = purge()
        except DatabaseError as error:
            raise CommandError(f"The database cannot be written anew now ({error}). Try again in a moment.") from error
        if not done.is_complete:
            raise CommandError("Somebody kept reading the database, so its write-ahead log is still there. Try again.")
        if connection.vendor == "sqlite":
            self.stdout.write(f"Merged the index of words, wrote the database anew: {before:,} bytes, now {_size():,}.")
            self.stdout.write("The write-ahead log is empty.")
        else:
            self.stdout.write("Deleted what was left. Your database has its own way to write tables anew.")
        self.stdout.write(_OUT_OF_REACH)


def _size() -> int:
    return sum(path.stat().st_size for path in files()) if connection.vendor == "sqlite" else 0
