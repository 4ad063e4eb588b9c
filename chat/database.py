"""The way from the event loop to the database: a few threads for all, so that one slow query delays nobody else."""

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, ParamSpec, TypeVar

from django.db import Error, close_old_connections, connection

logger = logging.getLogger(__name__)
PLACE = "DATABASE_URL names a PostgreSQL database; without one it is a file in DATA_DIR."
P = ParamSpec("P")
R = TypeVar("R")

# Each thread keeps a connection of its own to SQLite; to PostgreSQL it has one of a pool for as long as it works.
# Channels' database_sync_to_async has one thread for all sockets instead.
_threads = ThreadPoolExecutor(max_workers=8, thread_name_prefix="database")


async def in_database(work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Run one short function that may use the ORM. It goes on to its end even if whoever waits for it is cancelled."""
    return await asyncio.get_running_loop().run_in_executor(_threads, _with_connection, partial(work, *args, **kwargs))


def is_reachable() -> bool:
    """Whether the database answers; why not is logged."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except Error as error:
        logger.warning("The database cannot be reached: %s", error)
        return False
    return True


def fault() -> str:
    """Why the database cannot be opened, in one line for people; empty if it can. Waits for no pool."""
    database: Any = connection
    try:
        if connection.vendor == "postgresql":
            with database.wrap_database_errors:
                database.Database.connect(**database.get_connection_params()).close()
        else:
            connection.ensure_connection()
    except Error as error:
        return str(error).splitlines()[0]
    finally:
        connection.close()
    return ""


def _with_connection(work: Callable[[], R]) -> R:
    close_old_connections()
    try:
        return work()
    finally:
        close_old_connections()
