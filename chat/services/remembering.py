"""A person's control over what is remembered of a conversation, for the pages: one function for each wish.

All but `compact` are synchronous, for views. They raise RefusedPost for what cannot be.
"""

from typing import TYPE_CHECKING
from uuid import UUID

from asgiref.sync import async_to_sync

from chat import memory, runtime
from chat.database import in_database
from chat.memory import control
from chat.memory.control import Gauge, Remembered
from chat.models import Conversation, RefusedPost, Summary
from chat.services import writing

if TYPE_CHECKING:
    from chat.llm import LocalChatModel

__all__ = ["Gauge", "Remembered", "compact", "edit", "look", "pin", "restore"]

# Conversations that are summarised because their owners wish it.
_compacting: set[UUID] = set()


def look(conversation: UUID, owner: int) -> Remembered:
    """What is remembered of the branch that is shown, and how its context is used."""
    is_compacting = conversation in _compacting or memory.keeper.is_at_work(conversation)
    return control.look(_reach(conversation, owner), _model_or_none(), is_compacting=is_compacting)


def edit(conversation: UUID, owner: int, *, summary: int, text: str) -> Summary:
    """Correct the summary in use; the new version. Refused (`stale`) when a newer one is in use by now."""
    here = _reach(conversation, owner)
    row = control.edit(here, summary, text, _model())
    _read_ahead(here)
    return row


def restore(conversation: UUID, owner: int, *, summary: int) -> None:
    """Use an earlier version again."""
    here = _reach(conversation, owner)
    control.restore(here, summary)
    _read_ahead(here)


def pin(conversation: UUID, owner: int, *, message: int, pinned: bool) -> None:
    """Keep a message verbatim in every prompt, or let go of it."""
    here = _reach(conversation, owner)
    if pinned:
        control.pin(here, message, _model())
    else:
        control.unpin(here, message)
    _read_ahead(here)


async def compact(conversation: UUID, owner: int) -> bool:
    """Begin to summarise everything up to the last turn. False if there is nothing to do, or it is being done."""
    here = await in_database(_reach, conversation, owner)
    model = _model()
    remembered = await in_database(look, conversation, owner)
    if remembered.is_compacting or not remembered.can_compact or here.head_id is None:
        return False
    _compacting.add(conversation)
    writing.remember(_compact(conversation, here.head_id, model))
    return True


async def _compact(conversation: UUID, leaf: int, model: "LocalChatModel") -> None:
    try:
        await memory.keeper.compact(conversation, leaf, model)
    finally:
        _compacting.discard(conversation)


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


def _read_ahead(here: Conversation) -> None:
    """The next prompt begins differently: have it read before somebody waits for it."""
    if here.head_id is not None:
        async_to_sync(_prewarm)(here.pk, here.head_id)


async def _prewarm(conversation: UUID, leaf: int) -> None:
    writing.prewarm(conversation, leaf)
