"""Runs the site: web server and model in this one process, until Ctrl-C or SIGTERM."""

import asyncio
import contextlib
import os
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor

from chat.database import PLACE, fault

_ALL_ADDRESSES = ("0.0.0.0", "::")  # noqa: S104
# Enough for what chat.inference.shelf writes at its end, newest first.
PARKING_SECONDS = 12.0
_LOCAL_NAMES = {"localhost", "127.0.0.1", "[::1]"}


class Command(BaseCommand):
    help = "Serve the site on HOST and PORT. Run 'prepare' before the first start."

    def handle(self, *args: Any, **options: Any) -> None:
        from twisted.internet.error import CannotListenError

        from chatsite.server import ChatServer

        _check_data()
        try:
            parks = bool(settings.LLM_PARK_DIR)
            ChatServer(
                load=_application,
                ready=self._announce,
                finish=_finish,
                farewell=_park if parks else None,
                seconds=PARKING_SECONDS if parks else 0,
            ).run()
        except CannotListenError as error:
            reason = getattr(error.socketError, "strerror", None) or error.socketError
            raise CommandError(
                f"Cannot listen on {settings.HOST}, port {settings.PORT}: {reason}. "
                "Is the site running already? HOST and PORT choose another address."
            ) from error

    def _announce(self, port: int) -> None:
        host = settings.HOST.strip("[]")
        everywhere = host in _ALL_ADDRESSES
        name = "127.0.0.1" if everywhere else f"[{host}]" if ":" in host else host
        note = " and this machine's other addresses" if everywhere else ""
        self.stdout.write(f"Serving on http://{name}:{port}{note}. Press Ctrl-C to stop.")
        if everywhere and set(settings.ALLOWED_HOSTS) <= _LOCAL_NAMES:
            self.stdout.write("Others reach it once ALLOWED_HOSTS has the name that they type into the browser.")
        self.stdout.flush()


def _check_data() -> None:
    """Raises CommandError when the data directory cannot be written or the database is not up to date."""
    if not os.access(settings.DATA_DIR, os.W_OK | os.X_OK):
        raise CommandError(f"Cannot write to {settings.DATA_DIR}. DATA_DIR chooses another directory.")
    if reason := fault():
        raise CommandError(f"The database cannot be opened: {reason}. {PLACE}")
    try:
        executor = MigrationExecutor(connection)
        behind = executor.migration_plan(executor.loader.graph.leaf_nodes())
    except DatabaseError as error:
        raise CommandError(f"Cannot read the database: {error}.") from error
    finally:
        connection.close()
    if behind:
        raise CommandError("The database is not up to date. Run: python manage.py prepare")


def _application() -> Any:
    """The site; importing it starts the engine."""
    from chat.memory.purging import purge
    from chatsite.asgi import application

    with contextlib.suppress(DatabaseError):
        purge()  # what an earlier process deleted, and was killed before it could purge
    connection.close()
    return application


async def _finish() -> None:
    """Take no more questions and keep what has been written."""
    from chat import runtime, services
    from chat.memory.checking.background import background

    runtime.retire("The server is shutting down. Try again in a moment.")
    await asyncio.gather(services.close(), asyncio.to_thread(background.close))
    await services.purge_now()


def _park() -> None:
    """Have the engine write its caches to the disk; without LLM_PARK_DIR it needs no farewell."""
    from chat import runtime

    runtime.stop()
