"""Removes every byte of deleted texts from the data directory."""

import time
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError

from chat.memory.purging import database, purge

_OUT_OF_REACH = (
    "Out of reach: backups and exports, snapshots and journals of the file system, blocks that a disk has set aside, "
    "and drafts in people's browsers. Logs hold no text of conversations."
)


class Command(BaseCommand):
    help = (
        "Write the database anew, so that no byte of what was deleted or forgotten is left in its files. The site may "
        "run meanwhile; messages wait a moment. Takes as much room again as the database has bytes."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--wait", type=int, default=30, help="seconds to wait for whoever reads (30)")

    def handle(self, *args: Any, wait: int, **options: Any) -> None:
        before = database().size()
        try:
            done = purge(rewrite=True)
            is_rewritten, until = done.is_rewritten, time.monotonic() + wait
            while not done.is_complete and time.monotonic() < until:
                time.sleep(0.5)
                done = purge(rewrite=not is_rewritten)
                is_rewritten |= done.is_rewritten
        except DatabaseError as error:
            raise CommandError(f"The database cannot be written anew now ({error}). Try again in a moment.") from error
        if not done.is_complete:
            raise CommandError("Somebody kept reading the database, so not all of it could be removed. Try again.")
        self.stdout.write(database().done(before))
        self.stdout.write(_OUT_OF_REACH)
