"""A person's control over what is remembered of a conversation, for the pages: one function for each wish.

Those that are not asynchronous are for views. All raise RefusedPost for what cannot be.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import UUID

from asgiref.sync import async_to_sync
from django.conf import settings
from django.db import transaction

from accounts.models import User
from chat import memory, runtime, transcript
from chat.database import in_database
from chat.inference.parking import Parked
from chat.inference.shelf_file import name_of
from chat.memory import control, forgetting
from chat.memory.control import Gauge, Remembered
from chat.memory.sent import SentMessage, SentPart
from chat.memory.sent import read as sent
from chat.models import Conversation, RefusedPost, Summary
from chat.replies import running
from chat.services import notices, purging, writing

if TYPE_CHECKING:
    from chat.llm import LocalChatModel

__all__ = [
    "Gauge",
    "Remembered",
    "SentMessage",
    "SentPart",
    "compact",
    "delete",
    "delete_now",
    "deleting_person",
    "edit",
    "edit_now",
    "forget",
    "forget_now",
    "look",
    "pin",
    "pin_now",
    "restore",
    "restore_now",
    "sent",
]

# Conversations that are summarised because their owners wish it.
_compacting: set[UUID] = set()


def look(conversation: UUID, owner: int) -> Remembered:
    """What is remembered of the branch that is shown, and how its context is used."""
    is_compacting = conversation in _compacting or memory.keeper.is_at_work(conversation)
    return control.look(_reach(conversation, owner), _model_or_none(), is_compacting=is_compacting)


def edit(conversation: UUID, owner: int, *, summary: int, text: str, tab: str = "") -> Summary:
    """Correct the summary in use; the new version. Refused (`stale`) when a newer one is in use by now.

    `tab` is the page that need not be told, here and below.
    """
    here, row = _edit(conversation, owner, summary, text)
    async_to_sync(_changed)(here, tab)
    return row


async def edit_now(conversation: UUID, owner: int, *, summary: int, text: str) -> Summary:
    """The same, on the event loop."""
    here, row = await in_database(_edit, conversation, owner, summary, text)
    await _changed(here)
    return row


def restore(conversation: UUID, owner: int, *, summary: int, tab: str = "") -> None:
    """Use an earlier version again."""
    async_to_sync(_changed)(_restore(conversation, owner, summary), tab)


async def restore_now(conversation: UUID, owner: int, *, summary: int) -> None:
    """The same, on the event loop."""
    await _changed(await in_database(_restore, conversation, owner, summary))


def pin(conversation: UUID, owner: int, *, message: int, pinned: bool, tab: str = "") -> None:
    """Keep a message verbatim in every prompt, or let go of it."""
    async_to_sync(_changed)(_pin(conversation, owner, message, pinned), tab)


async def pin_now(conversation: UUID, owner: int, *, message: int, pinned: bool) -> None:
    """The same, on the event loop."""
    await _changed(await in_database(_pin, conversation, owner, message, pinned))


async def compact(conversation: UUID, owner: int, *, tab: str = "") -> bool:
    """Begin to summarise everything up to the last turn. False if there is nothing to do, or it is being done."""
    here = await in_database(_reach, conversation, owner)
    model = _model()
    remembered = await in_database(look, conversation, owner)
    if conversation in _compacting or not remembered.can_compact or here.head_id is None:
        return False
    _compacting.add(conversation)
    writing.remember(_compact(conversation, here.head_id, model))
    await notices.tell_remembered(conversation, tab)
    return True


def forget(conversation: UUID, owner: int, *, message: int, with_answers: bool) -> list[int]:
    """Forget a message for good, and with a person's the replies to it; the ids of those that were forgotten."""
    done = _forget(conversation, owner, message, with_answers)
    async_to_sync(_forgotten)(conversation, done)
    return done.messages


async def forget_now(conversation: UUID, owner: int, *, message: int, with_answers: bool) -> list[int]:
    """The same, on the event loop."""
    done = await in_database(_forget, conversation, owner, message, with_answers)
    await _forgotten(conversation, done)
    return done.messages


def delete(conversation: UUID, owner: int) -> None:
    """Delete a conversation with everything in it. Replies that are being written end."""
    here = _reach(conversation, owner)
    async_to_sync(_stop)([conversation])
    here.delete()
    async_to_sync(_deleted)([conversation])


async def delete_now(conversation: UUID, owner: int) -> None:
    """The same, on the event loop."""
    here = await in_database(_reach, conversation, owner)
    await _stop([conversation])
    await in_database(here.delete)
    await _deleted([conversation])


@contextmanager
def deleting_person(owner: int) -> Iterator[None]:
    """While a person is deleted: replies to him are asked to end, and nothing of him is left in caches and files after.

    Waits for none of them: their rows are locked here, and they may be waiting for those.
    """
    with transaction.atomic():
        list(Conversation.locked().filter(owner=owner).values_list("pk"))
        User.objects.select_for_update().filter(pk=owner).first()  # nobody writes anything for him meanwhile
        theirs = list(Conversation.objects.filter(owner=owner).values_list("pk", flat=True))
        async_to_sync(_stop)(theirs)
        yield
        transaction.on_commit(partial(async_to_sync(_deleted), theirs))


def _edit(conversation: UUID, owner: int, summary: int, text: str) -> tuple[Conversation, Summary]:
    here = _reach(conversation, owner)
    return here, control.edit(here, summary, text, _model())


def _restore(conversation: UUID, owner: int, summary: int) -> Conversation:
    here = _reach(conversation, owner)
    control.restore(here, summary)
    return here


def _pin(conversation: UUID, owner: int, message: int, pinned: bool) -> Conversation:
    here = _reach(conversation, owner)
    if pinned:
        control.pin(here, message, _model())
    else:
        control.unpin(here, message)
    return here


async def _changed(here: Conversation, tab: str = "") -> None:
    """What follows once it is stored: open pages, and the next prompt, which begins differently now."""
    await notices.tell_remembered(here.pk, tab)
    if here.head_id is not None:
        writing.prewarm(here.pk, here.head_id)


def _forget(conversation: UUID, owner: int, message: int, with_answers: bool) -> forgetting.Forgotten:
    here = _reach(conversation, owner)
    # Before as well: if the process ends right after the transaction, nothing of it is left in a file.
    _drop_caches([conversation])
    return forgetting.forget(here, message, with_answers=with_answers)


async def _forgotten(conversation: UUID, done: forgetting.Forgotten) -> None:
    """What follows once it is stored: caches, open pages, the files, and a new summary if one is due."""
    if not done.messages:
        return
    _drop_caches(done.cached)
    await notices.tell_forgotten(conversation, done.messages)
    if done.title is not None:
        await notices.tell_title(conversation, done.title or "New chat")
    purging.soon()
    if model := _model_or_none():
        writing.remember(_catch_up(conversation, model))


async def _catch_up(conversation: UUID, model: "LocalChatModel") -> None:
    heads = Conversation.objects.filter(pk=conversation).values_list("head", flat=True)
    for head in await in_database(list, heads):
        if head is not None:
            await memory.keeper.after_reply(conversation, head, model)
    await notices.tell_remembered(conversation)


async def _stop(conversations: Iterable[UUID]) -> None:
    for reply in running:
        if reply.conversation in conversations:
            reply.stop()


async def _deleted(conversations: Iterable[UUID]) -> None:
    _drop_caches(conversations)
    purging.soon()


def _drop_caches(conversations: Iterable[UUID]) -> None:
    if model := _model_or_none():
        model.forget(*map(str, conversations))
    elif settings.LLM_PARK_DIR is not None:
        _delete_parked(settings.LLM_PARK_DIR, conversations)
    transcript.forget_texts()


def _delete_parked(directory: Path, conversations: Iterable[UUID]) -> None:
    """Without a model nobody minds the files that were parked while there was one."""
    for conversation in conversations:
        owner, _, _ = name_of(Parked(str(conversation), [], memoryview(b""))).partition("-")
        for path in directory.glob(f"{owner}-*"):
            path.unlink(missing_ok=True)


async def _compact(conversation: UUID, leaf: int, model: "LocalChatModel") -> None:
    try:
        await memory.keeper.compact(conversation, leaf, model)
    finally:
        _compacting.discard(conversation)
    await notices.tell_remembered(conversation)


def _reach(conversation: UUID, owner: int) -> Conversation:
    here = Conversation.objects.filter(pk=conversation, owner_id=owner).first()
    if here is None:
        raise RefusedPost("conversation_gone", "This conversation has been deleted.")
    return here


def _model() -> "LocalChatModel":
    try:
        return runtime.chat_model()
    except runtime.ModelUnavailable as error:
        raise RefusedPost("model_unavailable", str(error)) from error


def _model_or_none() -> "LocalChatModel | None":
    try:
        return runtime.chat_model()
    except runtime.ModelUnavailable:
        return None
