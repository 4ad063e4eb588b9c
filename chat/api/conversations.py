"""`/v1/conversations`: one's own conversations, listed, made, read, renamed, deleted and exported."""

import base64
import binascii
import uuid
from collections.abc import Callable
from datetime import datetime
from typing import Annotated, Literal

from django.db.models import Q
from django.http import HttpResponse
from django.utils.http import content_disposition_header
from ninja import Query, Router, Status

from chat import exporting, services
from chat.api import conversation_memory, conversation_replies
from chat.api.auth import KeyRequest
from chat.api.conversation_bodies import (
    LARGEST_ID,
    Changes,
    ConversationBody,
    ConversationList,
    ConversationWithMessages,
    NewConversation,
    ReadMessage,
)
from chat.api.described import answers_of
from chat.api.errors import invalid
from chat.api.own import with_own
from chat.api.refusals import refusals
from chat.database import in_database
from chat.forms import RenameForm
from chat.models import Conversation
from chat.services import notices

router = Router(tags=["Conversations"])
router.add_router("", conversation_replies.router)
router.add_router("", conversation_memory.router)
_WITHOUT_200 = {status: body for status, body in answers_of(None).items() if status != 200}


@router.get("", response=answers_of(ConversationList), summary="List your conversations")
async def list_conversations(
    request: KeyRequest,
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
    after: Annotated[str, Query(max_length=200, description="`next` of the page before.")] = "",
) -> ConversationList:
    """The one that was used last comes first. While it is used, a conversation may move to an earlier page."""
    own = Conversation.objects.visible_to(request.auth)
    if after:
        at, pk = _read_cursor(after)
        own = own.filter(Q(updated_at__lt=at) | Q(updated_at=at, pk__lt=pk))
    rows = await in_database(list, own[: limit + 1])
    shown, has_more = rows[:limit], len(rows) > limit
    cursor = _cursor(shown[-1]) if has_more else None
    return ConversationList(data=[ConversationBody.of(row) for row in shown], has_more=has_more, next=cursor)


@router.post("", response=_WITHOUT_200 | {201: ConversationBody}, summary="Make a conversation")
async def make_conversation(request: KeyRequest, payload: NewConversation) -> Status[ConversationBody]:
    """An empty one."""
    title = "" if payload.title is None else _title(payload.title)
    row = await in_database(Conversation.make, request.auth, title)
    return Status(201, ConversationBody.of(row))


@router.get("/{uuid:pk}", response=answers_of(ConversationWithMessages), summary="Read a conversation")
async def read_conversation(
    request: KeyRequest,
    pk: uuid.UUID,
    messages: Annotated[
        Literal["branch", "all"], Query(description="Those of the branch that is shown, or of all branches.")
    ] = "branch",
    limit: Annotated[int, Query(ge=1, le=200)] = 100,
    before: Annotated[int | None, Query(ge=1, le=LARGEST_ID, description="`earlier` of the answer before.")] = None,
) -> ConversationWithMessages:
    """With its newest messages, or those right before the message `before`."""

    def read(here: Conversation) -> ConversationWithMessages:
        path = here.path() if messages == "branch" else [*here.messages.values_list("pk", flat=True)]
        if before is not None and before not in path:
            raise invalid("This message is not among those that were asked for.", "before")
        end = len(path) if before is None else path.index(before)
        start = max(0, end - limit)
        rows = here.messages.defer("token_ids").filter(pk__in=path[start:end])
        return ConversationWithMessages(
            **ConversationBody.of(here).dict(),
            messages=[ReadMessage.of(row) for row in rows],
            earlier=path[start] if start else None,
        )

    return await with_own(request, pk, read)


@router.patch("/{uuid:pk}", response=answers_of(ConversationBody), summary="Rename a conversation, show another branch")
async def change_conversation(request: KeyRequest, pk: uuid.UUID, payload: Changes) -> ConversationBody:
    """Whatever is given changes; every page that shows the conversation is told."""
    title = None if payload.title is None else _title(payload.title)

    def rename(here: Conversation) -> None:
        if title is not None:
            Conversation.objects.filter(pk=here.pk).update(title=title)

    await with_own(request, pk, rename)
    if title is not None:
        await notices.tell_title(pk, title)
    if payload.head is not None:
        with refusals(request.auth.pk, param="head"):
            await services.show_branch(pk, request.auth.pk, payload.head)
    return await with_own(request, pk, ConversationBody.of)


@router.delete("/{uuid:pk}", response=_WITHOUT_200 | {204: None}, summary="Delete a conversation")
async def delete_conversation(request: KeyRequest, pk: uuid.UUID) -> Status[None]:
    """With everything in it, at once and for good. A reply that is being written ends."""
    await with_own(request, pk, lambda _: None)
    with refusals(request.auth.pk):
        await services.delete_now(pk, request.auth.pk)
    return Status(204, None)


@router.get(
    "/{uuid:pk}/export",
    response=_WITHOUT_200,
    summary="Export a conversation",
    openapi_extra={
        "responses": {200: {"description": "The file", "content": {"text/markdown": {}, "application/json": {}}}}
    },
)
async def export_conversation(
    request: KeyRequest,
    pk: uuid.UUID,
    format: Literal["markdown", "json"] = "markdown",  # noqa: A002
) -> HttpResponse:
    """A file: the branch that is shown as Markdown, or everything as JSON."""
    write, kind, ending = _FORMATS[format]
    text, title = await with_own(request, pk, lambda here: (write(here), here.title))
    name = content_disposition_header(as_attachment=True, filename=exporting.filename(title, ending))
    # An attachment that a browser should show all the same would be inert.
    headers = {"Content-Disposition": name or "attachment", "Content-Security-Policy": "sandbox; default-src 'none'"}
    return HttpResponse(text, content_type=f"{kind}; charset=utf-8", headers=headers)


_FORMATS: dict[str, tuple[Callable[[Conversation], str], str, str]] = {
    "markdown": (exporting.as_markdown, "text/markdown", "md"),
    "json": (exporting.as_json, "application/json", "json"),
}


def _title(raw: str) -> str:
    form = RenameForm({"title": raw})
    if not form.is_valid():
        raise invalid(" ".join(str(error) for error in form.errors["title"]), "title")
    title: str = form.cleaned_data["title"]
    return title


def _cursor(row: Conversation) -> str:
    return base64.urlsafe_b64encode(f"{row.updated_at.isoformat()} {row.pk.hex}".encode()).decode().rstrip("=")


def _read_cursor(cursor: str) -> tuple[datetime, uuid.UUID]:
    try:
        at, _, pk = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode().partition(" ")
        moment = datetime.fromisoformat(at)
        if moment.tzinfo is None:
            raise ValueError
        return moment, uuid.UUID(pk)
    except (ValueError, OverflowError, binascii.Error):
        raise invalid("This is no cursor of this list.", "after") from None
