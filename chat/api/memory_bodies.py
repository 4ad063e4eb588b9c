"""What is remembered of a conversation as programs send and get it (docs/api.md)."""

from typing import Annotated

from ninja import Field, Path, Schema

from chat.api.conversation_bodies import LARGEST_ID, Id, Moment, StrictSchema
from chat.models import Summary
from chat.services.remembering import Gauge, Remembered

MessagePath = Annotated[int, Path(le=LARGEST_ID)]
SummaryPath = Annotated[int, Path(le=LARGEST_ID)]


class Correction(StrictSchema):
    """A summary as it should be. `replaces` is the one in use that was read; if another one is by now, 409 `stale`."""

    text: str
    replaces: Id


class MessageChanges(StrictSchema):
    """What of a message is to change: whether it is always shown to the model word for word."""

    pinned: bool


class SummaryBody(Schema):
    """A version of the summary. It stands for everything up to the message `covers_until`."""

    id: int
    object: str = "conversation.summary"
    text: str
    author: str = Field(description="`model`, `extract` (key sentences, taken as they stand) or `person`.")
    model: str
    covers_until: int
    grown_from: int | None
    created_at: Moment

    @classmethod
    def of(cls, row: Summary) -> "SummaryBody":
        """A row as programs see it."""
        names = ("id", "text", "author", "model", "created_at")
        own = {name: getattr(row, name) for name in names}
        return cls(covers_until=row.covers_until_id, grown_from=row.grown_from_id, **own)


class PartBody(Schema):
    """A part of the next prompt, by its kind (docs/memory.md)."""

    kind: str
    num_tokens: int


class GaugeBody(Schema):
    """How the context would be used by the next prompt, with an empty message; all numbers are tokens."""

    parts: list[PartBody]
    num_tokens: int
    prompt: int = Field(description="The most that a prompt may have.")
    high: int = Field(description="Above it the oldest messages are summarised.")
    context: int
    reserve: int = Field(description="Kept free for the reply.")

    @classmethod
    def of(cls, gauge: Gauge) -> "GaugeBody":
        """The same for programs."""
        parts = [PartBody(kind=kind, num_tokens=num_tokens) for kind, num_tokens in gauge.parts]
        limits = {name: getattr(gauge, name) for name in ("num_tokens", "prompt", "high", "context", "reserve")}
        return cls(parts=parts, **limits)


class MemoryBody(Schema):
    """What is remembered of the branch that is shown. Messages are given by their ids, oldest first."""

    object: str = "conversation.memory"
    summary: SummaryBody | None = Field(description="The one in use.")
    covered: list[int] = Field(description="What it stands for; pinned messages stand for themselves.")
    num_verbatim: int = Field(description="How many newer messages are shown word for word.")
    pinned: list[int]
    versions: list[SummaryBody] = Field(description="Newest first, at most `limit`.")
    num_versions: int
    gauge: GaugeBody | None = Field(description="null while no model is loaded, and before the first message.")
    can_compact: bool
    is_compacting: bool

    @classmethod
    def of(cls, seen: Remembered, limit: int) -> "MemoryBody":
        """The same for programs, with the newest versions."""
        return cls(
            summary=SummaryBody.of(seen.summary) if seen.summary else None,
            covered=[row.pk for row in seen.covered],
            num_verbatim=seen.num_verbatim,
            pinned=[row.pk for row in seen.pinned],
            versions=[SummaryBody.of(version) for version in seen.versions[:limit]],
            num_versions=len(seen.versions),
            gauge=GaugeBody.of(seen.gauge) if seen.gauge else None,
            can_compact=seen.can_compact,
            is_compacting=seen.is_compacting,
        )


class Forgotten(Schema):
    """The ids of what was forgotten; none if it had been before."""

    forgotten: list[int]
