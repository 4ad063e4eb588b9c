"""What waits to be sent on one socket: bounded, in order, and given up when the client does not read."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from chat.protocol import encode

logger = logging.getLogger(__name__)

# Frames that may wait: answers and notices. Of each reply that is followed there is one at most.
MOST_FRAMES = 200
# Bytes that the server may hold for a client before we wait for it to read, and seconds until we give it up.
MOST_BYTES = 256 * 1024
PATIENCE = 15.0

Send = Callable[[str], Awaitable[None]]


class Outbox:
    """One socket's frames on their way out, written by one task."""

    def __init__(self, send: Send, unsent: Callable[[], int], give_up: Callable[[], Awaitable[None]]) -> None:
        """`unsent` tells how many bytes the server still holds; `give_up` is awaited once, when they stay."""
        self._send, self._unsent, self._give_up = send, unsent, give_up
        self._frames: asyncio.Queue[tuple[dict[str, Any], asyncio.Future[None] | None]] = asyncio.Queue(MOST_FRAMES)
        self._stuck = asyncio.Event()

    def push(self, frame: dict[str, Any]) -> None:
        """Send a frame as soon as possible. When too many wait, the socket is given up."""
        try:
            self._frames.put_nowait((frame, None))
        except asyncio.QueueFull:
            self._stuck.set()

    async def deliver(self, frame: dict[str, Any]) -> None:
        """Send a frame and return when it has left: whoever makes frames from something that grows waits here."""
        left = asyncio.get_running_loop().create_future()
        await self._frames.put((frame, left))
        await left

    async def run(self) -> None:
        """Write until cancelled, or until the client cannot follow."""
        writing = asyncio.ensure_future(self._write())
        stuck = asyncio.ensure_future(self._stuck.wait())
        try:
            await asyncio.wait({writing, stuck}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            writing.cancel()
            stuck.cancel()
            await asyncio.wait({writing, stuck})
        if self._stuck.is_set():
            await self._give_up()

    async def _write(self) -> None:
        while True:
            frame, left = await self._frames.get()
            await self._send(encode(frame))
            await self._wait_for_room()
            if left and not left.done():
                left.set_result(None)

    async def _wait_for_room(self) -> None:
        # The server's buffer tells nobody when it has emptied, so we look.
        deadline = time.monotonic() + PATIENCE
        while self._unsent() > MOST_BYTES:
            if time.monotonic() > deadline:
                self._stuck.set()
            await asyncio.sleep(0.05)


def unsent_bytes(send: Any) -> int:
    """How many bytes Daphne holds for the client behind an ASGI `send`; 0 where that cannot be seen.

    Daphne's `send` never waits for the client: it is a `partial(server.handle_reply, protocol)` that fills the buffer
    of a Twisted transport without bound.
    """
    if not isinstance(send, partial) or not send.args:
        return 0
    transport = getattr(send.args[0], "transport", None)
    waiting = len(getattr(transport, "dataBuffer", b"")) - getattr(transport, "offset", 0)
    return waiting + int(getattr(transport, "_tempDataLen", 0))
