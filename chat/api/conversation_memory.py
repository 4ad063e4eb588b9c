"""What is remembered of a conversation, for programs: read, corrected, restored, pinned, forgotten, compacted."""

import uuid
from typing import Annotated

from ninja import Query, Router

from chat.api.auth import KeyRequest
from chat.api.conversation_bodies import ReadMessage
from chat.api.described import answers_of
from chat.api.errors import ErrorBody
from chat.api.memory_bodies import (
    Correction,
    Forgotten,
    MemoryBody,
    MessageChanges,
    MessagePath,
    SummaryPath,
)
from chat.api.own import with_own
from chat.api.refusals import refusals
from chat.services import remembering

router = Router(tags=["Memory"])
VERSIONS = 20


@router.get("/{uuid:pk}/memory", response=answers_of(MemoryBody), summary="Read what is remembered")
async def read_memory(
    request: KeyRequest,
    pk: uuid.UUID,
    limit: Annotated[int, Query(ge=0, le=200, description="How many versions are given.")] = VERSIONS,
) -> MemoryBody:
    """The summary in use and what it stands for, its versions, what is pinned, and how the context is used."""
    return await _memory(request, pk, limit)


@router.post("/{uuid:pk}/memory/compact", response=answers_of(MemoryBody), summary="Summarise the older messages now")
async def compact_memory(request: KeyRequest, pk: uuid.UUID) -> MemoryBody:
    """Begin to, and give the memory as it stands: `is_compacting` until it is done, false if nothing is to be done."""
    await with_own(request, pk, lambda _: None)
    with refusals(request.auth.pk):
        await remembering.compact(pk, request.auth.pk)
    return await _memory(request, pk)


@router.post(
    "/{uuid:pk}/summaries", response=answers_of(MemoryBody) | {409: ErrorBody}, summary="Correct the summary in use"
)
async def correct_summary(request: KeyRequest, pk: uuid.UUID, payload: Correction) -> MemoryBody:
    """A new version takes its place; the old one can be restored. Gives the memory as it stands then."""
    await with_own(request, pk, lambda _: None)
    with refusals(request.auth.pk, param="replaces"):
        await remembering.edit_now(pk, request.auth.pk, summary=payload.replaces, text=payload.text)
    return await _memory(request, pk)


@router.post("/{uuid:pk}/summaries/{int:summary}/restore", response=answers_of(MemoryBody), summary="Restore a summary")
async def restore_summary(request: KeyRequest, pk: uuid.UUID, summary: SummaryPath) -> MemoryBody:
    """Use an earlier version again, or a later one after that. Gives the memory as it stands then."""
    await with_own(request, pk, lambda _: None)
    with refusals(request.auth.pk):
        await remembering.restore_now(pk, request.auth.pk, summary=summary)
    return await _memory(request, pk)


@router.patch(
    "/{uuid:pk}/messages/{int:message}",
    response=answers_of(ReadMessage) | {409: ErrorBody},
    summary="Pin or unpin a message",
)
async def change_message(
    request: KeyRequest, pk: uuid.UUID, message: MessagePath, payload: MessageChanges
) -> ReadMessage:
    """What is pinned is shown to the model word for word however old it gets. All pins share a part of the context."""
    await with_own(request, pk, lambda _: None)
    with refusals(request.auth.pk):
        await remembering.pin_now(pk, request.auth.pk, message=message, pinned=payload.pinned)
    return await with_own(request, pk, lambda here: ReadMessage.of(here.messages.get(pk=message)))


@router.delete(
    "/{uuid:pk}/messages/{int:message}",
    response=answers_of(Forgotten) | {409: ErrorBody},
    summary="Forget a message for good",
)
async def forget_message(
    request: KeyRequest,
    pk: uuid.UUID,
    message: MessagePath,
    with_answers: Annotated[bool, Query(description="The replies to it too, which often repeat it.")] = True,
) -> Forgotten:
    """Its words leave the conversation, prompts, summaries, facts, index, caches and files. Its place stays."""
    await with_own(request, pk, lambda _: None)
    with refusals(request.auth.pk):
        done = await remembering.forget_now(pk, request.auth.pk, message=message, with_answers=with_answers)
    return Forgotten(forgotten=done)


async def _memory(request: KeyRequest, pk: uuid.UUID, limit: int = VERSIONS) -> MemoryBody:
    seen = await with_own(request, pk, lambda here: remembering.look(here.pk, here.owner_id))
    return MemoryBody.of(seen, limit)
