"""Conversations and messages as programs send and get them (docs/api.md)."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from ninja import Field, Path, Schema
from pydantic import ConfigDict, PlainSerializer, WithJsonSchema

from chat.models import Conversation, Message

LARGEST_ID = 2**63 - 1
Id = Annotated[int, Field(ge=0, le=LARGEST_ID)]
# Written as the frames of docs/protocol.md write it, in answers and streams alike.
Moment = Annotated[
    datetime,
    PlainSerializer(datetime.isoformat, return_type=str),
    WithJsonSchema({"type": "string", "format": "date-time"}),
]
ReplyPath = Annotated[int, Path(le=LARGEST_ID)]


class StrictSchema(Schema):
    """A body in which every field is known: a misspelt one is refused, not ignored."""

    model_config = ConfigDict(extra="forbid", strict=True)


class NewConversation(StrictSchema):
    """A conversation to make; without a title it gets the first words of its first message."""

    title: str | None = None


class Changes(StrictSchema):
    """What of a conversation is to change: its title, or which branch is shown (by any message of it)."""

    title: str | None = None
    head: Id | None = None


class Asking(StrictSchema):
    """How a reply is wanted. The same `client_id` again gives the same reply."""

    client_id: Annotated[UUID, Field(strict=False)] | None = None
    stream: bool = False
    cancel_on_disconnect: bool = Field(True, description="Stop the reply when this request's client leaves.")


class NewMessage(Asking):
    """A message. `parent` is the reply that it follows, null at the beginning; left out, it is the last one shown."""

    text: str
    parent: Id | None = None


class ConversationBody(Schema):
    """A conversation; `head` is the last message of the branch that is shown."""

    id: UUID
    object: str = "conversation"
    title: str
    head: int | None
    created_at: Moment
    updated_at: Moment

    @classmethod
    def of(cls, row: Conversation) -> "ConversationBody":
        """A row as programs see it."""
        return cls(id=row.pk, title=row.title, head=row.head_id, created_at=row.created_at, updated_at=row.updated_at)


class ConversationMessage(Schema):
    """A message of a conversation; `parent` makes the tree. `usage` is that of docs/protocol.md."""

    id: int
    object: str = "conversation.message"
    parent: int | None
    role: str
    status: str
    text: str
    reasoning: str
    error: str
    client_id: UUID | None
    model: str
    usage: dict[str, Any]
    created_at: Moment

    @classmethod
    def of(cls, row: Message) -> "ConversationMessage":
        """A row as programs see it."""
        return cls(parent=row.parent_id, **{name: getattr(row, name) for name in _AS_STORED})


_AS_STORED = ("id", "role", "status", "text", "reasoning", "error", "client_id", "model", "usage", "created_at")
_PART = ("kind", "num_tokens", "messages", "summary")


class ReadMessage(ConversationMessage):
    """A message with what only a reader asks for."""

    pinned: bool
    sent: dict[str, Any] = Field(description="Of a reply: what the model was shown for it, as counts and ids.")

    @classmethod
    def of(cls, row: Message) -> "ReadMessage":
        """A row as programs read it."""
        parts = [dict(zip(_PART, part, strict=True)) for part in row.sent.get("parts", [])]
        sent = row.sent | {"parts": parts} if row.sent else {}
        return cls(**ConversationMessage.of(row).dict(exclude={"object"}), pinned=row.pinned, sent=sent)


class ConversationList(Schema):
    """A page of conversations, the one that was used last first; `next` is the cursor of the page behind it."""

    object: str = "list"
    data: list[ConversationBody]
    has_more: bool
    next: str | None


class ConversationWithMessages(ConversationBody):
    """A conversation with some of its messages, oldest first; `earlier` is the `before` of those in front of them."""

    messages: list[ReadMessage]
    earlier: int | None


class Answered(Schema):
    """What came of a message or a retry. `reply.status` tells whether it succeeded, `reply.error` why not."""

    message: ConversationMessage
    reply: ConversationMessage
    branched: bool = Field(description="The conversation had already gone on from the parent.")
