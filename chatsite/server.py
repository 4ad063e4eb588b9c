"""Daphne in this process, with limits on what it reads and an end that keeps what is being written."""

import asyncio
import json
import logging
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable
from types import FrameType
from typing import Any, NoReturn, cast

import daphne.server
from daphne.http_protocol import HTTPFactory, WebRequest
from daphne.ws_protocol import WebSocketFactory, WebSocketProtocol
from django.conf import settings
from twisted.internet import tcp
from twisted.logger import globalLogBeginner

# The reactor that daphne installed, which runs on an asyncio loop; its interfaces tell type checkers nothing of use.
reactor: Any = daphne.server.__dict__["reactor"]
logger = logging.getLogger(__name__)

# Seconds from the first signal until the process is gone, whatever still hangs; a farewell has more.
PATIENCE = 1.5
# The close code that tells a page to come back in a moment (docs/protocol.md).
GOING_AWAY = 4503
# Bytes of a stream that a client may leave unread before it is cut off: what nobody reads must not fill the memory.
STREAM_HARD_LIMIT = 8 * 1024 * 1024
# Every socket's frame ends here; the consumer answers what is over FRAME_MAX_BYTES with an error, up to this size.
FRAME_HARD_LIMIT = 1024 * 1024


class LimitedRequest(WebRequest):
    """A request that is answered with 413 as soon as its body says that it will be, or becomes, too large.

    Its answer, where that is a stream of events, is cut off when the client does not read it.
    """

    channel: Any
    content: Any
    responseHeaders: Any  # noqa: N815
    _received = 0
    _refused = False

    def gotLength(self, length: int | None) -> None:  # noqa: N802
        """The head has been read; the length is None for a body that comes in chunks."""
        super().gotLength(length)
        if length is not None and length > settings.BODY_MAX_BYTES:
            self._refuse()

    def handleContentChunk(self, data: bytes) -> None:  # noqa: N802
        """A part of the body."""
        self._received += len(data)
        if self._received > settings.BODY_MAX_BYTES and not self._refused:
            self._refuse()
        if not self._refused:
            super().handleContentChunk(data)

    def process(self) -> Any:
        """The request is complete."""
        return self.channel.loseConnection() if self._refused else super().process()

    def handle_reply(self, message: dict[str, Any]) -> None:
        """A part of the answer, or its head. The transport takes everything and never says that it is full."""
        super().handle_reply(message)
        # When the answer is complete twisted has let the connection go, attribute and all.
        channel = getattr(self, "channel", None)
        transport = channel.transport if channel else None
        unread = len(getattr(transport, "dataBuffer", b"")) + getattr(transport, "_tempDataLen", 0)
        if transport and unread > STREAM_HARD_LIMIT and self.responseHeaders.hasHeader(b"X-Accel-Buffering"):
            transport.abortConnection()

    def _refuse(self) -> None:
        self._refused = True
        self.content.truncate(0)
        self.requestHeaders.removeHeader(b"Expect")  # or the client would be told to go on
        reason = f"A request may have at most {settings.BODY_MAX_BYTES} bytes."
        error = {"message": reason, "type": "invalid_request_error", "param": None, "code": "request_too_large"}
        text = json.dumps({"error": error}).encode()  # as programs expect it; people never send that much
        head = f"HTTP/1.1 413 Content Too Large\r\nContent-Length: {len(text)}\r\nConnection: close\r\n"
        self.channel.transport.write(head.encode() + b"Content-Type: application/json\r\n\r\n" + text)
        # A client that sends before it reads would never see the answer if the connection was cut at once.
        reactor.callLater(2, self.channel.transport.abortConnection)


class PromptTransport(tcp.Server):
    """A connection whose data is sent at once where the system takes it, and not in the reactor's next round.

    A reply's stream is one small write a token; to watch the socket for each until it is writable, and then no more,
    costs more than the write.
    """

    def write(self, data: bytes) -> None:
        """Send it, or keep for later what does not go out at once."""
        self.writeSequence([data])

    def writeSequence(self, data: Iterable[bytes]) -> None:  # noqa: N802
        """The same for several."""
        waits = self.dataBuffer or self._tempDataBuffer or not self.connected or self.disconnecting
        joined = b"".join(data)
        sent = 0 if waits or not joined else self.writeSomeData(joined)
        # An error comes again when the reactor tries, and is dealt with there.
        rest = joined[sent:] if isinstance(sent, int) else joined
        if rest:
            super().writeSequence([rest])


class LimitedHTTPFactory(HTTPFactory):
    """Gives every connection our requests."""

    def buildProtocol(self, addr: Any) -> Any:  # noqa: N802
        """The protocol of one connection."""
        protocol = super().buildProtocol(addr)
        protocol.requestFactory = LimitedRequest
        return protocol


class ChatServer(daphne.server.Server):
    """Serves one application on one port until a signal comes.

    `load` returns the application and is called once the port is ours; `ready` gets the port's number then.
    `finish` is awaited when the end has come, before the sockets are closed. `farewell` is called in a thread when
    nobody is connected any more, and may take its `seconds`.
    """

    def __init__(
        self,
        load: Callable[[], Any],
        ready: Callable[[int], None],
        finish: Callable[[], Any],
        farewell: Callable[[], None] | None = None,
        seconds: float = 0.0,
    ) -> None:
        """Nothing is opened yet."""
        super().__init__(application=None, endpoints=["unused"], server_name="")
        self._load, self._ready, self._finish = load, ready, finish
        self._farewell, self._seconds = farewell, seconds
        self._loop: asyncio.AbstractEventLoop = reactor._asyncioEventloop  # noqa: SLF001
        self._signalled = False

    def run(self) -> NoReturn:
        """Serve until the process ends. Raises twisted's CannotListenError when the port is not to be had."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._on_signal)
        self.connections: dict[Any, dict[str, Any]] = {}
        self.http_factory = LimitedHTTPFactory(self)
        self.ws_factory = WebSocketFactory(self, server=self.server_name)
        self.ws_factory.setProtocolOptions(
            autoPingTimeout=self.ping_timeout,
            openHandshakeTimeout=self.websocket_handshake_timeout,
            maxMessagePayloadSize=FRAME_HARD_LIMIT,
            maxFramePayloadSize=FRAME_HARD_LIMIT,
        )
        globalLogBeginner.beginLoggingTo([cast("Any", _discard)], redirectStandardIO=False, discardBuffer=True)
        self._port = reactor.listenTCP(settings.PORT, self.http_factory, interface=settings.HOST.strip("[]"))
        self._port.transport = PromptTransport  # what its connections are made of
        asyncio.set_event_loop(self._loop)
        self.application = self._load()
        reactor.callLater(1, self.application_checker)
        reactor.callLater(2, self.timeout_checker)
        reactor.callWhenRunning(self._ready, self._port.getHost().port)
        reactor.run(installSignalHandlers=False)
        leave()

    def _on_signal(self, _number: int, _frame: FrameType | None) -> None:
        if self._signalled or not reactor.running:
            leave()
        self._signalled = True
        # A thread, because the loop itself may be what hangs.
        watchdog = threading.Timer(PATIENCE + self._seconds, leave)
        watchdog.daemon = True
        watchdog.start()
        self._loop.call_soon_threadsafe(self._begin_to_drain)

    def _begin_to_drain(self) -> None:
        self._draining = self._loop.create_task(self._drain())

    async def _drain(self) -> None:
        """Take nobody in, keep what is being written, tell whoever is connected, stop."""
        try:
            async with asyncio.timeout(PATIENCE / 2):
                await self._port.stopListening().asFuture(self._loop)
                await self._finish()
        except TimeoutError:
            logger.warning("Not all replies could be saved in time; each is kept up to about its last second.")
        except Exception:
            logger.exception("The end was not clean; what was saved while it was written is kept.")
        await self._close_connections()
        if self._farewell:
            await asyncio.to_thread(self._farewell)
        reactor.stop()

    async def _close_connections(self) -> None:
        for protocol in list(self.connections):
            if isinstance(protocol, WebSocketProtocol) and protocol.state == protocol.STATE_OPEN:
                protocol.serverClose(code=GOING_AWAY)
        await self._wait_for_applications(0.3)
        for task in self._applications():
            task.cancel()
        await self._wait_for_applications(0.3)

    async def _wait_for_applications(self, seconds: float) -> None:
        if tasks := self._applications():
            await asyncio.wait(tasks, timeout=seconds)

    def _applications(self) -> list[asyncio.Task[None]]:
        tasks = [details.get("application_instance") for details in self.connections.values()]
        return [task for task in tasks if task and not task.done()]


def leave() -> NoReturn:
    """End the process now. The interpreter's own way out waits for threads that may be loading or running a model."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def _discard(event: object) -> None:
    """Twisted's own log, which repeats what daphne says and names every connection."""
