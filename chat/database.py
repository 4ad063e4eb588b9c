"""The way from the event loop to the database: a few threads for all, so that one slow query delays nobody else."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import ParamSpec, TypeVar

from django.db import close_old_connections

P = ParamSpec("P")
R = TypeVar("R")

# Each thread keeps a connection of its own. Channels' database_sync_to_async has one thread for all sockets instead.
_threads = ThreadPoolExecutor(max_workers=8, thread_name_prefix="database")


async def in_database(work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Run one short function that may use the ORM. It goes on to its end even if whoever waits for it is cancelled."""
    return await asyncio.get_running_loop().run_in_executor(_threads, _with_connection, partial(work, *args, **kwargs))


def _with_connection(work: Callable[[], R]) -> R:
    close_old_connections()
    try:
        return work()
    finally:
        close_old_connections()
