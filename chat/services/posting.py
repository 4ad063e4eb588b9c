"""Taking a message or a retry: checked, stored with its empty reply, and only then given to the engine."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import Error, IntegrityError, transaction

from chat import memory, runtime
from chat.database import in_database
from chat.models import Conversation, Message, Posted, RefusedPost
from chat.replies import Reply, running
from chat.services import notices, writing
from chat.services.describing import described
from chat.typed import clean, is_blank

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Sent:
    """What the sender is told: his message (as frames show it), the reply to it, and what happened on the way."""

    message: dict[str, Any]
    reply: dict[str, Any]
    branched: bool


async def send_message(
    conversation: UUID,
    owner: int,
    *,
    client_id: UUID,
    parent: int | None,
    text: str,
    sender: str = "",
    source: str = "page",
) -> Sent:
    """Post a person's message and have it answered. The same client_id again returns the same rows.

    Raises RefusedPost; then nothing was stored. `sender` is the channel that need not be told by a notice, `source`
    is `page` or `api`.
    """
    if known := await _stored(_find, conversation, owner, client_id, Message.Role.USER):
        return _sent(known)
    text = _checked(text)
    model = _model()
    _check_queue(owner)
    here = await _stored(_reach, conversation, owner)
    try:
        await memory.check_fits(here, parent, text, model)
        if here.head_id is None:
            await memory.choose_facts(here, model)
    except memory.MessageTooLong as error:
        raise RefusedPost("message_too_long", str(error)) from error
    except Error as error:
        raise _not_stored(error) from error
    untitled = not here.title
    posted = await _stored(_register, lambda: here.post(parent=parent, text=text, client_id=client_id), here)
    if posted.created:
        await _begin(posted, sender, source, message=posted.message.pk)
        if untitled:
            await notices.tell_title(conversation, here.title)
    return _sent(posted)


async def retry_reply(
    conversation: UUID, owner: int, *, reply: int, client_id: UUID, sender: str = "", source: str = "page"
) -> Sent:
    """Write another reply beside one of this conversation. The same client_id again returns the same rows.

    Raises RefusedPost.
    """
    if known := await _stored(_find, conversation, owner, client_id, Message.Role.ASSISTANT):
        return _sent(known)
    _model()
    _check_queue(owner)
    here = await _stored(_reach, conversation, owner)
    old = await _stored(here.messages.filter(pk=reply, role=Message.Role.ASSISTANT).first)
    if old is None:
        raise RefusedPost("unknown_reply", "This reply is not in this conversation. Load the page again.")
    posted = await _stored(_register, lambda: here.retry(old, client_id=client_id), here)
    if posted.created:
        await _begin(posted, sender, source)
    return _sent(posted)


async def show_branch(conversation: UUID, owner: int, message: int) -> int:
    """Show the newest branch through a message; returns the new head. Raises RefusedPost."""
    here = await _stored(_reach, conversation, owner)
    head: int = await _stored(here.show, message)
    await notices.tell_head(conversation, head)
    return head


def _checked(text: str) -> str:
    text = clean(text)
    if is_blank(text):
        raise RefusedPost("empty_message", "There is nothing to send yet.")
    size = len(text.encode())
    if size > settings.MESSAGE_MAX_BYTES:
        raise RefusedPost(
            "message_too_long",
            f"This message has {size:,} bytes; {settings.MESSAGE_MAX_BYTES:,} can be sent. Shorten or split it.",
        )
    return text


def _model() -> Any:
    try:
        return runtime.chat_model()
    except runtime.ModelUnavailable as error:
        raise RefusedPost("model_unavailable", str(error)) from error


def _check_queue(owner: int) -> None:
    # The engine has the last word; this spares the message a reply that can only fail.
    if running.waiting(owner) >= settings.LLM_QUEUE_LIMIT_PERSON:
        raise RefusedPost("queue_full", "Many of your messages wait for an answer. Send this when one has come.")
    if running.waiting() >= settings.LLM_QUEUE_LIMIT:
        raise RefusedPost("queue_full", "Many people wait for an answer. Try again in a minute.")


async def _stored(work: Callable[..., Any], *args: Any) -> Any:
    """A hop to the database whose failure is told to people."""
    try:
        return await in_database(work, *args)
    except Error as error:
        raise _not_stored(error) from error


def _not_stored(error: Error) -> RefusedPost:
    logger.warning("The database did not take a message: %s", error)
    return RefusedPost("storage_unavailable", "This could not be stored, so it was not sent. Try again in a moment.")


def _reach(conversation: UUID, owner: int) -> Conversation:
    here = Conversation.objects.filter(pk=conversation, owner_id=owner).first()
    if here is None:
        raise RefusedPost("conversation_gone", "This conversation has been deleted.")
    return here


def _find(conversation: UUID, owner: int, client_id: UUID, role: str) -> Posted | None:
    """What was posted with this client_id, if it came before."""
    mine = Message.objects.filter(conversation=conversation, conversation__owner=owner)
    known = mine.filter(client_id=client_id, role=role).select_related("parent").first()
    if known is None:
        return None
    if role == Message.Role.ASSISTANT:
        assert known.parent is not None, "the database demands a parent of every reply"
        return Posted(known.parent, known, created=False, branched=False)
    return Posted(known, known.children.earliest("id"), created=False, branched=False)


def _register(post: Callable[[], Posted], conversation: Conversation) -> Posted:
    """Post, and register the reply before the row can be seen: whoever finds the row finds the reply.

    Two that come at the same moment with one client_id meet in the database; the later one gets the earlier one's rows.
    """
    try:
        return _register_once(post, conversation)
    except IntegrityError:
        return _register_once(post, conversation)


def _register_once(post: Callable[[], Posted], conversation: Conversation) -> Posted:
    reply = None
    try:
        with transaction.atomic():
            posted = post()
            if posted.created:
                reply = Reply(posted.reply.pk, conversation=conversation.pk, owner=conversation.owner_id)
                running.add(reply)
    except BaseException:
        if reply:
            running.drop(reply)
        raise
    return posted


async def _begin(posted: Posted, sender: str, source: str, message: int = 0) -> None:
    row = posted.reply
    reply = running.get(row.pk, row.conversation_id)
    assert reply is not None, "a reply is registered before its row is committed"
    reply.source = source
    writing.start(reply, row)
    await notices.tell_posted(row.conversation_id, message, row.pk, sender)
    if posted.branched:
        await notices.tell_head(row.conversation_id, row.pk, sender)


def _sent(posted: Posted) -> Sent:
    return Sent(described(posted.message, ""), described(posted.reply, ""), posted.branched)
