"""One WebSocket: frames to the services, and what becomes of them back to the page."""

import asyncio
import contextlib
import logging
from collections.abc import Coroutine
from dataclasses import asdict
from functools import partial
from typing import Any
from uuid import UUID

from channels.consumer import get_handler_name
from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings
from django.db import Error

from accounts.models import User
from chat import limits, origins, protocol, services, sessions
from chat.database import in_database
from chat.models import Conversation
from chat.outbox import Outbox, unsent_bytes
from chat.replies import Ended, Event, Queued

logger = logging.getLogger(__name__)

SESSION_ENDED, CANNOT_FOLLOW, TOO_MUCH = 4401, 4408, 4429
# Seconds between two looks at the session of an open socket. What this site changes is told at once (chat.sessions).
LOOK_EVERY = 5.0

_handling: set[asyncio.Task[None]] = set()


class ChatConsumer(AsyncWebsocketConsumer):
    """A page that looks at one conversation. Handlers return at once; what takes time is a task."""

    person: int | None = None  # Until he has been let in.
    conversation: UUID
    outbox: Outbox

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve one connection, and clean up after it however it ends."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            await self._leave()

    async def dispatch(self, message: dict[str, Any]) -> None:
        """Without the hop to a thread that all sockets would share: whatever uses the ORM here has its own way."""
        await getattr(self, get_handler_name(message))(message)

    async def connect(self) -> None:
        """Accept the owner of the conversation who comes from a page of this site; all others are refused alike."""
        self.conversation = self.scope["url_route"]["kwargs"]["conversation"]
        self._session = sessions.key_of(self.scope)
        self._rate = limits.FrameRate(settings.FRAMES_PER_10_SECONDS)
        self._posting, self._noticing = asyncio.Lock(), asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()
        self._following: dict[int, tuple[int, asyncio.Task[None]]] = {}  # By reply: after which part, and by whom.
        self._closed = False
        self.outbox = Outbox(self.send, partial(unsent_bytes, self.base_send), partial(self._shut, CANNOT_FOLLOW))
        standing = await self._let_in() if origins.is_own(self.scope) else None
        if standing is None:
            await self.close()
            return
        await self.accept()
        self._spawn(self.outbox.run(), self._tasks)
        self._spawn(self._look_regularly(), self._tasks)
        self.outbox.push(protocol.hello(self.conversation, **asdict(standing)))
        if standing.head and not standing.unfinished:
            services.prewarm(self.conversation, standing.head)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:  # noqa: ARG002
        """Check a frame's rate, size and shape, and have it handled. Those of one socket are posted in their order."""
        if self._closed:
            return
        self._rate.count()
        if self._rate.is_far_exceeded:
            await self._shut(TOO_MUCH)
        elif self._rate.is_exceeded:
            self._refuse("too_many_frames", "That was too fast. Wait a few seconds and try again.")
        elif text_data is None:
            self._refuse("bad_frame", "A frame is text.")
        elif len(text_data.encode()) > settings.FRAME_MAX_BYTES:
            self._refuse("frame_too_large", f"At most {settings.FRAME_MAX_BYTES:,} bytes can be sent at once.")
        else:
            self._take(text_data)

    async def conversation_posted(self, notice: dict[str, Any]) -> None:
        """Notice: somebody, or another tab, posted here."""
        if notice["sender"] != self.channel_name:
            self._spawn(self._show_posted(notice["message"], notice["reply"]), self._tasks)

    async def conversation_retitled(self, notice: dict[str, Any]) -> None:
        """Notice: the conversation has a new title."""
        self.outbox.push(protocol.title_changed(notice["title"]))

    async def conversation_moved(self, notice: dict[str, Any]) -> None:
        """Notice: another branch is shown now."""
        if notice["sender"] != self.channel_name:
            self._spawn(self._show_moved(notice["head"]), self._tasks)

    async def conversation_forgotten(self, notice: dict[str, Any]) -> None:
        """Notice: messages have been forgotten."""
        self.outbox.push(protocol.message_forgotten(notice["messages"]))

    async def conversation_remembered(self, notice: dict[str, Any]) -> None:
        """Notice: what is remembered has changed."""
        self._spawn(self._show_remembered(notice["tab"]), self._tasks)

    async def session_check(self, notice: dict[str, Any]) -> None:  # noqa: ARG002
        """Notice: the person has changed; see whether he may still read."""
        self._spawn(self._look(), self._tasks)

    async def session_ended(self, notice: dict[str, Any]) -> None:
        """Notice: a session of this person ends now."""
        if notice["session"] == sessions.digest(self._session):
            await self._shut(SESSION_ENDED)

    # --- Coming and going -------------------------------------------------------------------------------------------

    async def _let_in(self) -> services.Standing | None:
        person = await in_database(self._owner)
        if person is None or not limits.seats.take(person.pk, settings.SOCKETS_PER_PERSON):
            return None
        self.person = person.pk
        # First the notices, then the look: what happens in between is seen twice rather than never.
        await self._join()
        try:
            return await services.look_at(self.conversation)
        except Conversation.DoesNotExist:
            return None

    def _owner(self) -> User | None:
        person = sessions.person_of(self._session)
        own = person and Conversation.objects.visible_to(person).filter(pk=self.conversation).exists()
        return person if own else None

    async def _join(self) -> None:
        for group in self._groups():
            await self.channel_layer.group_add(group, self.channel_name)

    async def _leave(self) -> None:
        if self.person is None:
            return
        self._stop_working()
        limits.seats.give_back(self.person)
        for group in self._groups():
            await self.channel_layer.group_discard(group, self.channel_name)

    def _groups(self) -> tuple[str, str]:
        assert self.person is not None, "only who has been let in has groups"
        return services.group_of(self.conversation), sessions.group_of(self.person)

    async def _look_regularly(self) -> None:
        while True:
            await asyncio.sleep(LOOK_EVERY)
            with contextlib.suppress(Error):
                await self._look()
            await self._join()  # The layer in memory forgets its members after a day.

    async def _look(self) -> bool:
        """True if this is still the session of the person who opened the socket; closes it otherwise."""
        person = await in_database(sessions.person_of, self._session)
        if person is not None and person.pk == self.person:
            return True
        await self._shut(SESSION_ENDED)
        return False

    async def _shut(self, code: int) -> None:
        if not self._closed:
            self._stop_working()
            await self.close(code)

    def _stop_working(self) -> None:
        # Posts are not among these: what was sent is stored and answered, whoever is still there to see it.
        self._closed = True
        for task in self._tasks - {asyncio.current_task()}:
            task.cancel()

    # --- What the client wants --------------------------------------------------------------------------------------

    def _take(self, raw: str) -> None:
        try:
            frame = protocol.parse(raw)
        except protocol.BadFrame as error:
            self._refuse("bad_frame", str(error), client_id=error.client_id)
        else:
            self._spawn(self._handle(frame), _handling)

    async def _handle(self, frame: protocol.Frame) -> None:
        about = {name: getattr(frame, name) for name in ("client_id", "reply") if hasattr(frame, name)}
        try:
            async with self._turn(frame):
                if await self._look():
                    await self._do(frame)
        except services.RefusedPost as error:
            self._refuse(error.code, str(error), **about)
        except Error:
            self._refuse("storage_unavailable", "The database does not answer. Try again in a moment.", **about)
        except Exception:
            logger.exception("A frame in conversation %s could not be handled.", self.conversation)
            self._refuse("server_error", "Something went wrong on the server. Try again.", **about)

    def _turn(self, frame: protocol.Frame) -> contextlib.AbstractAsyncContextManager[None]:
        """What changes the conversation goes one after the other; Stop, Follow and Ping wait for nothing."""
        waits = isinstance(frame, protocol.Send | protocol.Retry | protocol.Show)
        return self._posting if waits else contextlib.nullcontext()

    async def _do(self, frame: protocol.Frame) -> None:
        match frame:
            case protocol.Ping():
                self.outbox.push(protocol.pong())
            case protocol.Follow():
                self._follow(frame.reply, frame.after)
            case protocol.Stop():
                services.stop_reply(self.conversation, frame.reply)
                self._follow(frame.reply, services.FROM_NOW)
            case protocol.Send() | protocol.Retry():
                await self._post(frame)
            case protocol.Show():
                await services.show_branch(self.conversation, self._known, frame.message)

    async def _post(self, frame: protocol.Send | protocol.Retry) -> None:
        where = {"client_id": frame.client_id, "sender": self.channel_name}
        if isinstance(frame, protocol.Retry):
            sent = await services.retry_reply(self.conversation, self._known, reply=frame.reply, **where)
        else:
            sent = await services.send_message(
                self.conversation, self._known, parent=frame.parent, text=frame.text, **where
            )
            self.outbox.push(protocol.message_created(sent.message))
        self._start(sent.reply)
        if sent.branched and isinstance(frame, protocol.Send):
            self.outbox.push(protocol.branched(sent.message["id"], sent.message["parent"]))

    @property
    def _known(self) -> int:
        assert self.person is not None, "no frame is handled before its sender has been let in"
        return self.person

    # --- What the client is shown -----------------------------------------------------------------------------------

    async def _show_posted(self, message: int, reply: int) -> None:
        async with self._noticing:
            for shown in await services.describe_all(self.conversation, (message, reply)):
                if shown["id"] == reply:
                    self._start(shown)
                else:
                    self.outbox.push(protocol.message_created(shown))

    async def _show_moved(self, head: int) -> None:
        async with self._noticing:
            self.outbox.push(protocol.head_changed(head))

    async def _show_remembered(self, tab: str) -> None:
        async with self._noticing:  # The last one tells how it is now.
            self.outbox.push(protocol.memory_changed(await services.pins_of(self.conversation), tab))

    def _start(self, reply: dict[str, Any]) -> None:
        self.outbox.push(protocol.reply_started(reply))
        self._follow(reply["id"], 0)

    def _follow(self, reply: int, after: int) -> None:
        begun, task = self._following.get(reply, (None, None))
        if self._closed or (begun is not None and begun <= after):
            return  # This socket gets it already, or nothing any more.
        if task:
            task.cancel()
        self._following[reply] = after, self._spawn(self._pass_on(reply, after), self._tasks)

    async def _pass_on(self, reply: int, after: int) -> None:
        try:
            async for event in services.follow_reply(self.conversation, reply, after):
                await self.outbox.deliver(_frame(reply, event))
        except services.RefusedPost as error:
            self._refuse(error.code, str(error), reply=reply)
        except Error:
            self._refuse("storage_unavailable", "The database does not answer. Try again in a moment.", reply=reply)
        finally:
            if self._following.get(reply, (0, None))[1] is asyncio.current_task():
                del self._following[reply]

    def _refuse(self, code: str, text: str, *, client_id: UUID | None = None, reply: int | None = None) -> None:
        self.outbox.push(protocol.error(code, text, client_id=client_id, reply=reply))

    @staticmethod
    def _spawn(work: Coroutine[Any, Any, Any], tasks: set[asyncio.Task[None]]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        tasks.add(task)
        task.add_done_callback(tasks.discard)
        return task


def _frame(reply: int, event: Event) -> protocol.Json:
    if isinstance(event, Ended):
        return protocol.reply_done(event.message)
    if isinstance(event, Queued):
        return protocol.reply_queued(reply, event.position, event.seconds)
    return protocol.reply_delta(reply, event.seq, event.text, event.reasoning, event.closed, event.open)
