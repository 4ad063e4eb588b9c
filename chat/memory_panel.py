"""What the memory panel shows of a conversation: what is remembered, its versions, and how the context is used."""

from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from chat import gauge, runtime
from chat.differences import Stretch, difference
from chat.models import Message, Summary
from chat.services import remembering

if TYPE_CHECKING:
    from uuid import UUID

# The newest of the covered messages and of the versions are listed; a long conversation has thousands and dozens.
LISTED = 100
LISTED_VERSIONS = 20
_AUTHORS = {
    Summary.Author.MODEL: "Written by the model",
    Summary.Author.EXTRACT: "Key sentences, taken as they stand",
    Summary.Author.PERSON: "Written by a person",
}


@dataclass(frozen=True)
class Version:
    """A summary, and the text of the one that it grew from; None when that one is gone."""

    summary: Summary
    is_used: bool
    before: str | None

    @property
    def author(self) -> str:
        """Who wrote it, in words."""
        return author_of(self.summary)

    @property
    def changes(self) -> list[Stretch]:
        """What it changed, compared only when it is shown; nothing when little stayed: then the text reads better."""
        stretches = difference(self.before, self.summary.text) if self.before else []
        num_same = sum(len(stretch.text) for stretch in stretches if stretch.kind == "same")
        return stretches if 2 * num_same >= len(self.summary.text) else []


@dataclass(frozen=True)
class Panel:
    """A conversation's memory as it stands, on the branch that is shown."""

    remembered: "remembering.Remembered"
    bar: gauge.Bar | None
    versions: list[Version]
    is_model_ready: bool

    @property
    def summary(self) -> Summary | None:
        """The one in use."""
        return self.remembered.summary

    @property
    def author(self) -> str:
        """Who wrote the one in use."""
        return author_of(self.summary) if self.summary else ""

    @property
    def why_no_bar(self) -> str:
        """Why the context cannot be measured."""
        if not self.is_model_ready:
            return "No model is loaded, so tokens cannot be counted."
        if self.remembered.num_verbatim or self.summary:
            return "The instructions to the model alone are larger than its context."
        return "Nothing has been said yet."

    @property
    def covered(self) -> list[Message]:
        """The newest of the messages that it stands for, oldest first."""
        return self.remembered.covered[-LISTED:]

    @property
    def num_unlisted(self) -> int:
        """How many it stands for besides."""
        return len(self.remembered.covered) - len(self.covered)

    @property
    def why_not_compact(self) -> str:
        """Why nothing can be summarised now; empty when it can."""
        if self.remembered.can_compact:
            return ""
        if not self.is_model_ready:
            return "No model is loaded, so nothing can be summarised now."
        return "There is nothing to summarise now: the newest messages always stay word for word."


@dataclass(frozen=True)
class Sent:
    """What was sent for a reply; empty when no prompt was made for it."""

    parts: list["remembering.SentPart"]
    bar: gauge.Bar | None
    settings: dict[str, Any]  # how it was sampled, by name


def panel(conversation: "UUID", owner: int) -> Panel:
    """Reads it, and measures the next prompt if a model is loaded."""
    remembered = remembering.look(conversation, owner)
    texts = {version.pk: version.text for version in remembered.versions}
    used = remembered.summary.pk if remembered.summary else None
    versions = [
        Version(version, version.pk == used, texts.get(version.grown_from_id or 0))
        for number, version in enumerate(remembered.versions)
        if number < LISTED_VERSIONS or version.pk == used
    ]
    bar = gauge.bar(remembered.gauge) if remembered.gauge else None
    return Panel(remembered, bar, versions, runtime.status().ready)


def sent(reply: Message) -> Sent:
    """What the model was shown to write a reply, as far as it is still there, and how it chose its words."""
    parts = remembering.sent(reply)
    context = reply.sent.get("context", 0)
    measured = SimpleNamespace(
        parts=[(part.kind, part.num_tokens) for part in parts], prompt=context, context=context, high=0, reserve=0
    )
    sampling = reply.sent.get("sampling", {})
    settings = {name.replace("_", " ").capitalize(): value for name, value in sampling.items() if value is not None}
    return Sent(parts, gauge.bar(measured) if parts else None, settings)


def author_of(summary: Summary) -> str:
    """Who wrote a summary, in words."""
    by = _AUTHORS[Summary.Author(summary.author)]
    return f"{by} {summary.model}" if summary.author == Summary.Author.MODEL and summary.model else by
