"""Purges the database's files soon after something was deleted: once for whatever is deleted in a short while."""

import asyncio
import contextvars
import itertools
import logging

from django.db import Error

from chat.database import in_database
from chat.memory.purging import purge

logger = logging.getLogger(__name__)

# Seconds that are waited for more to be deleted, and until the next try when somebody was reading.
PAUSE = 2.0
TRY_AGAIN = (1.0, 5.0, 15.0, 60.0)


class Purger:
    """Does what is due in a task; one for a process, the functions below speak for it."""

    def __init__(self) -> None:
        self._task: asyncio.Task[None] | None = None
        self._is_due = False

    def soon(self) -> None:
        """Purge in a moment. On the event loop."""
        self._is_due = True
        loop = asyncio.get_running_loop()
        if self._task is None or self._task.done() or self._task.get_loop() is not loop:
            self._task = loop.create_task(self._until_done(), context=contextvars.Context())

    async def close(self) -> None:
        """Purge now what was to be purged soon, because the server stops."""
        task, self._task = self._task, None
        if task and task.get_loop() is asyncio.get_running_loop():
            task.cancel()
            await asyncio.wait({task})
        if self._is_due:
            await self._once()

    async def _until_done(self) -> None:
        await asyncio.sleep(PAUSE)
        for pause in itertools.chain(TRY_AGAIN, itertools.repeat(TRY_AGAIN[-1])):
            if await self._once():
                return
            await asyncio.sleep(pause)

    async def _once(self) -> bool:
        """True if nothing is due any more."""
        self._is_due, is_complete = False, False
        try:
            is_complete = (await in_database(purge)).is_complete
        except Error as error:
            logger.warning("The database's files could not be purged: %s", error)
        finally:
            self._is_due |= not is_complete
        return not self._is_due


_purger = Purger()
soon = _purger.soon
close = _purger.close
