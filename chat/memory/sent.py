"""What the model was really shown for a reply: kept as counts and ids beside it, and read again for people.

No text is kept twice: what was forgotten or deleted since is gone from here as well.
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from chat.memory.branch import path_to
from chat.memory.prompt import Part, Prompt
from chat.models import Conversation, Fact, Message, Summary

if TYPE_CHECKING:
    from chat.llm import LocalChatModel

TITLES = {
    "system": "System prompt",
    "facts": "Facts about you",
    "summary": "Summary of what was said before",
    "digest": "Key sentences of what was said before, made on the spot",
    "left_out": "Left out: no room was left for it",
    "pinned": "Pinned messages",
    "turns": "The messages before, word for word",
    "recalled": "Earlier messages that seemed to matter",
    "message": "The new message",
}
# Of these the first and the last id are kept: they stand for everything in between that is nowhere else.
_STRETCHES = frozenset({"summary", "digest", "left_out", "turns"})
_SAMPLING = (
    "temperature", "top_k", "top_p", "min_p", "repeat_penalty", "frequency_penalty", "presence_penalty", "seed",
)  # fmt: skip


@dataclass(frozen=True)
class SentMessage:
    """A message as it was shown, and as it is now."""

    pk: int
    role: str
    text: str  # empty if it was forgotten
    date: datetime
    is_forgotten: bool


@dataclass(frozen=True)
class SentPart:
    """A stretch of a prompt, for people."""

    kind: str
    num_tokens: int
    title: str
    text: str = ""
    messages: list[SentMessage] = field(default_factory=list)
    summary: Summary | None = None  # the version that was shown, or from which the key sentences were made
    note: str = ""  # what cannot be shown any more, and why

    @property
    def figure(self) -> str:
        """Its tokens as people read them."""
        return f"{self.num_tokens:,}"


def as_stored(prompt: Prompt, model: "LocalChatModel", **chosen: Any) -> dict[str, Any]:
    """What Message.sent keeps of a prompt; `chosen` are the sampling parameters that differ from the model's."""
    sampling = asdict(model.sampling)
    return {
        "parts": [[part.kind, part.num_tokens, _kept(part), part.summary] for part in prompt.parts],
        "prompt_tokens": prompt.num_tokens,
        "context": model.context_tokens,
        "sampling": {name: sampling[name] for name in _SAMPLING} | chosen,
        "model": model.model_name,
        "thinking": model.thinking,
    }


def read(reply: Message) -> list[SentPart]:
    """What was sent for a reply, as far as it is still there; nothing for one that no prompt was made for."""
    parts = reply.sent.get("parts", [])
    conversation = reply.conversation
    path = path_to(conversation, reply.parent_id) if parts else []
    apart = {pk for kind, _, ids, _ in parts if kind not in _STRETCHES | {"recalled"} for pk in ids}
    wanted = [(part, _ids(part[0], part[2], path, apart)) for part in parts]
    rows = conversation.messages.defer("token_ids", "reasoning").in_bulk([pk for _, ids in wanted for pk in ids])
    return [_read(part, [rows[pk] for pk in ids if pk in rows], conversation) for part, ids in wanted]


def _kept(part: Part) -> list[int]:
    return [part.messages[0], part.messages[-1]] if part.kind in _STRETCHES and part.messages else [*part.messages]


def _ids(kind: str, kept: Sequence[int], path: Sequence[int], apart: set[int]) -> list[int]:
    if kind not in _STRETCHES or not kept:
        return list(kept)
    first, last = kept
    return [pk for pk in path if first <= pk <= last and pk not in apart]


def _read(part: list[Any], rows: Iterable[Message], conversation: Conversation) -> SentPart:
    kind, num_tokens, _, summary_id = part
    text, note, messages, summary = "", "", [_as_sent(row) for row in rows], None
    if kind == "system":
        text = conversation.system_prompt
    elif kind == "facts":
        text = "\n".join(Fact.objects.filter(pk__in=conversation.facts).values_list("text", flat=True))
        note = "" if text else "They have been deleted since."
    elif kind == "summary":
        summary = conversation.summaries.filter(pk=summary_id).first()
        text = summary.text if summary else ""
        note = "" if summary else "This version has been deleted since, because a message it covered was forgotten."
    elif kind == "digest":
        note = "They are not kept. They were made of these messages and of the summary before them."
    return SentPart(kind, num_tokens, TITLES.get(kind, kind), text, messages, summary, note)


def _as_sent(row: Message) -> SentMessage:
    return SentMessage(row.pk, row.role, row.text, row.created_at, row.status == Message.Status.FORGOTTEN)
