"""Replies with memory: post a message and get its reply, whole or as it grows; stop, retry and follow one."""

import asyncio
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from typing import Annotated, Any

from django.http import HttpResponseBase, StreamingHttpResponse
from ninja import Query, Router

from chat import services
from chat.api.auth import KeyRequest
from chat.api.conversation_bodies import LARGEST_ID, Answered, Asking, ConversationMessage, NewMessage, ReplyPath
from chat.api.described import answers_of
from chat.api.errors import ErrorBody, described
from chat.api.own import with_own
from chat.api.refusals import refusals
from chat.api.sse import DONE, frame
from chat.replies import Ended, Event, Queued
from chat.services import Sent

router = Router(tags=["Conversations"])

# Seconds without news after which a stream says that it lives.
QUIET = 15.0
Json = dict[str, Any]
_posting: set[asyncio.Task[Sent]] = set()


@router.post(
    "/{uuid:pk}/messages", response=answers_of(Answered) | {409: ErrorBody}, summary="Post a message and get its reply"
)
async def post_message(request: KeyRequest, pk: uuid.UUID, payload: NewMessage) -> HttpResponseBase | Answered:
    """What the page does: the model is shown the conversation and its memory. With `stream`, server-sent events."""
    head = await _head(request, pk)
    parent = payload.parent if "parent" in payload.model_fields_set else head

    async def post(client_id: uuid.UUID) -> Sent:
        return await services.send_message(
            pk, request.auth.pk, client_id=client_id, parent=parent, text=payload.text, source="api"
        )

    return await _answer(request, pk, payload, post)


@router.post(
    "/{uuid:pk}/replies/{int:reply}/retry",
    response=answers_of(Answered) | {409: ErrorBody},
    summary="Have another reply written",
)
async def retry_reply(
    request: KeyRequest, pk: uuid.UUID, reply: ReplyPath, payload: Asking
) -> HttpResponseBase | Answered:
    """Beside the old one, which stays. The new one is on the branch that is shown."""
    await _head(request, pk)

    async def retry(client_id: uuid.UUID) -> Sent:
        return await services.retry_reply(pk, request.auth.pk, reply=reply, client_id=client_id, source="api")

    return await _answer(request, pk, payload, retry)


@router.post("/{uuid:pk}/replies/{int:reply}/stop", response=answers_of(ConversationMessage), summary="Stop a reply")
async def stop_reply(request: KeyRequest, pk: uuid.UUID, reply: ReplyPath) -> Json:
    """What was written stays. Gives the reply as it ended, also when it had ended before."""
    await _head(request, pk)
    services.stop_reply(pk, reply)
    with refusals(request.auth.pk):
        return await _ended(pk, reply)


@router.get("/{uuid:pk}/replies/{int:reply}/events", response=answers_of(None), summary="Follow a reply")
async def follow_reply(
    request: KeyRequest, pk: uuid.UUID, reply: ReplyPath, after: Annotated[int, Query(ge=0, le=LARGEST_ID)] = 0
) -> HttpResponseBase:
    """Server-sent events from behind the part `after` (its `seq`) to the end. Leaving stops nothing."""
    await _head(request, pk)
    with refusals(request.auth.pk):
        return await _streamed(_events(pk, reply, after))


async def _head(request: KeyRequest, pk: uuid.UUID) -> int | None:
    """The last message that is shown."""
    return await with_own(request, pk, lambda here: here.head_id)


async def _answer(
    request: KeyRequest, pk: uuid.UUID, asking: Asking, post: Callable[[uuid.UUID], Awaitable[Sent]]
) -> HttpResponseBase | Answered:
    """Post, and give what comes of it. Whoever leaves before the end stops the reply, unless he wants it to go on."""
    client_id = asking.client_id or uuid.uuid4()
    with refusals(request.auth.pk):
        sent = await _posted(post(client_id), pk, stops=asking.cancel_on_disconnect)
        events = _told(pk, sent, stops=asking.cancel_on_disconnect)
        if asking.stream:
            return await _streamed(events)
        async with aclosing(events):
            async for event in events:
                last = event
    assert last is not None, "a reply's last event is its end"
    return Answered.model_validate({"message": sent.message, "reply": last["message"], "branched": sent.branched})


async def _posted(post: Awaitable[Sent], pk: uuid.UUID, *, stops: bool) -> Sent:
    """Post to the end even if the client leaves meanwhile: what is stored must be answered, or stopped."""

    async def posted() -> Sent:
        return await post

    def left(task: asyncio.Task[Sent]) -> None:
        if not task.cancelled() and not task.exception() and stops:
            services.stop_reply(pk, task.result().reply["id"])

    task = asyncio.get_running_loop().create_task(posted())
    _posting.add(task)
    task.add_done_callback(_posting.discard)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        task.add_done_callback(left)
        raise


async def _told(pk: uuid.UUID, sent: Sent, *, stops: bool) -> AsyncGenerator[Json | None]:
    """What a stream tells of a message that was sent, up to the end of its reply."""
    reply, ended = sent.reply["id"], False
    try:
        yield {"type": "message.created", "message": _without_html(sent.message), "branched": sent.branched}
        yield {"type": "reply.started", "message": _without_html(sent.reply)}
        async with aclosing(_events(pk, reply)) as events:
            async for event in events:
                ended = event is not None and event["type"] == "reply.done"
                yield event
    finally:
        if stops and not ended:
            services.stop_reply(pk, reply)


async def _events(pk: uuid.UUID, reply: int, after: int = 0) -> AsyncGenerator[Json | None]:
    """The events of a reply as a stream tells them; None whenever there was no news for a while."""
    follow = services.follow_reply(pk, reply, after)
    coming: asyncio.Future[Event] | None = None
    try:
        while True:
            coming = coming or asyncio.ensure_future(anext(follow))
            await asyncio.wait({coming}, timeout=QUIET)
            if not coming.done():
                yield None
                continue
            event, coming = coming.result(), None
            yield _described(reply, event)
    except StopAsyncIteration:
        return
    finally:
        if coming:
            coming.cancel()


async def _ended(pk: uuid.UUID, reply: int) -> Json:
    async for event in services.follow_reply(pk, reply, services.FROM_NOW):
        if isinstance(event, Ended):
            return _without_html(event.message)
    raise AssertionError("a reply's last event is its end")


def _described(reply: int, event: Event) -> Json:
    """The frames of docs/protocol.md without what only a page needs."""
    if isinstance(event, Ended):
        return {"type": "reply.done", "message": _without_html(event.message)}
    if isinstance(event, Queued):
        return {"type": "reply.queued", "reply": reply, "position": event.position, "seconds": event.seconds}
    return {"type": "reply.delta", "reply": reply, "seq": event.seq, "text": event.text, "reasoning": event.reasoning}


def _without_html(message: Json) -> Json:
    return {"object": "conversation.message"} | {name: value for name, value in message.items() if name != "html"}


async def _streamed(events: AsyncGenerator[Json | None]) -> StreamingHttpResponse:
    """The events as a stream.

    They have begun when this returns: what is refused has a status code, and whoever leaves before he reads anything
    ends them all the same.
    """
    first = await anext(events)
    response = StreamingHttpResponse(_body(first, events), content_type="text/event-stream; charset=utf-8")
    response["Cache-Control"] = "no-store"
    response["X-Accel-Buffering"] = "no"  # or nginx would collect the reply
    return response


async def _body(first: Json | None, events: AsyncGenerator[Json | None]) -> AsyncIterator[bytes]:
    async with aclosing(events):
        try:
            yield _framed(first)
            async for event in events:
                yield _framed(event)
            yield DONE
        except Exception as error:  # the status has been sent
            yield frame(described(error).body)


def _framed(event: Json | None) -> bytes:
    return b": waiting\n\n" if event is None else frame(event)
