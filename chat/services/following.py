"""Reading along: how a conversation stands, what a reply has become, and the wish that it end."""

from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from chat.database import in_database
from chat.models import Conversation, Message, RefusedPost
from chat.replies import Ended, Event, running
from chat.services.describing import describe, described

# As a part's number: nothing of what is there, only what comes.
FROM_NOW = 2**63 - 1


@dataclass(frozen=True)
class Standing:
    """What a client is told when it comes."""

    title: str
    head: int | None
    unfinished: list[int]
    pinned: list[int]
    forgotten: list[int]


async def look_at(conversation: UUID) -> Standing:
    """How a conversation stands now. Raises Conversation.DoesNotExist when it has been deleted."""
    return await in_database(_standing, conversation)


async def pins_of(conversation: UUID) -> list[int]:
    """The messages that are pinned, on every branch."""
    return await in_database(_ids, Message.objects.filter(conversation=conversation, pinned=True))


async def describe_all(conversation: UUID, pks: Iterable[int]) -> list[dict[str, Any]]:
    """Those messages of a conversation as frames show them, oldest first, without HTML."""
    rows = Message.objects.filter(conversation=conversation, pk__in=pks).defer("token_ids")
    return [described(row, "") for row in await in_database(list, rows)]


async def follow_reply(conversation: UUID, pk: int, after: int = 0) -> AsyncIterator[Event]:
    """What a reply has beyond part `after` and what comes, up to its end. Raises RefusedPost for an unknown one."""
    reply = running.get(pk, conversation)
    if reply is None:
        row = await in_database(_reply, conversation, pk)
        if not row.is_unfinished:
            yield Ended(await describe(row))
            return
        # It was registered while we looked.
        reply = running.get(pk, conversation)
    if reply is None:
        raise RefusedPost("unknown_reply", "Another server writes this reply. Load the page again in a moment.")
    async for event in reply.follow(after):
        yield event


def stop_reply(conversation: UUID, pk: int) -> None:
    """Ask a reply to end. One that has ended, or is not in this conversation, is left alone."""
    if reply := running.get(pk, conversation):
        reply.stop()


def _standing(conversation: UUID) -> Standing:
    here = Conversation.objects.get(pk=conversation)
    return Standing(
        here.title,
        here.head_id,
        unfinished=_ids(here.messages.filter(status__in=Message.UNFINISHED)),
        pinned=_ids(here.messages.filter(pinned=True)),
        forgotten=_ids(here.messages.filter(status=Message.Status.FORGOTTEN)),
    )


def _ids(messages: QuerySet[Message]) -> list[int]:
    return list(messages.values_list("pk", flat=True))


def _reply(conversation: UUID, pk: int) -> Message:
    rows = Message.objects.filter(conversation=conversation, role=Message.Role.ASSISTANT).defer("token_ids")
    row = rows.filter(pk=pk).first()
    if row is None:
        raise RefusedPost("unknown_reply", "This reply is not in this conversation. Load the page again.")
    return row
