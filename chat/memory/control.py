"""A person's control over memory: what is remembered of the shown branch, corrected, restored, pinned.

Every change is one transaction, and is refused with a reason for people (RefusedPost) where it cannot be.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import transaction

from chat.memory.branch import Branch, applying, as_message, is_shown, path_to, read_past
from chat.memory.budget import Budget, MessageTooLong
from chat.memory.prompt import Notes, build, size, size_pinned
from chat.memory.summary import all_but_last
from chat.models import Conversation, Message, RefusedPost, Summary
from chat.typed import clean, is_blank

if TYPE_CHECKING:
    from chat.llm import LocalChatModel


@dataclass(frozen=True)
class Gauge:
    """How the context would be used by the next prompt, with an empty message; all numbers are tokens."""

    parts: list[tuple[str, int]]  # kind (docs/memory.md) and tokens, in the prompt's order
    prompt: int  # the most that a prompt may have
    high: int  # above it the oldest turns are folded
    context: int
    reserve: int  # kept free for the reply

    @property
    def num_tokens(self) -> int:
        """Of the whole prompt."""
        return sum(tokens for _, tokens in self.parts)


@dataclass(frozen=True)
class Remembered:
    """What is remembered of the branch that is shown."""

    summary: Summary | None  # the one in use
    versions: list[Summary]  # all that lie on the branch, newest first, retired ones included
    covered: list[Message]  # what the one in use stands for, oldest first; pinned ones stand for themselves
    pinned: list[Message]
    num_verbatim: int  # messages after the summary
    gauge: Gauge | None  # None while there is no model
    can_compact: bool
    is_compacting: bool


def look(conversation: Conversation, model: "LocalChatModel | None", *, is_compacting: bool = False) -> Remembered:
    """How memory stands on the branch that is shown."""
    path = path_to(conversation, conversation.head_id)
    on_path = set(path)
    versions = [row for row in conversation.summaries.order_by("-id") if row.covers_until_id in on_path]
    used = applying(conversation, path)
    summary = next((row for row in versions if row.pk == used), None)
    mark = path.index(summary.covers_until_id) + 1 if summary else 0
    rows = conversation.messages.defer("token_ids", "reasoning").in_bulk(path)
    shown = [rows[pk] for pk in path if is_shown(rows[pk])]
    earlier = set(path[:mark])
    past = read_past(conversation.pk, path[-1], model.fingerprint) if model and path else None
    budget = budget_of(model) if model else None
    return Remembered(
        summary=summary,
        versions=versions,
        covered=[row for row in shown if row.pk in earlier and not row.pinned],
        pinned=[row for row in shown if row.pinned],
        num_verbatim=sum(row.pk not in earlier for row in shown),
        gauge=_gauge(past, budget, model) if past and budget and model else None,
        can_compact=bool(past and budget and model and all_but_last(past.layout, budget, model.count)),
        is_compacting=is_compacting,
    )


@transaction.atomic
def edit(conversation: Conversation, summary: int, text: str, model: "LocalChatModel") -> Summary:
    """The summary in use as a person corrects it: a new version in its place."""
    conversation.lock()
    old = _on_branch(conversation, summary)
    if old.pk != applying(conversation, path_to(conversation, conversation.head_id)):
        raise RefusedPost("stale", "A newer summary has taken the place of this one. Look at that first.")
    text = clean(text).strip()
    if is_blank(text):
        raise RefusedPost("empty_summary", "A summary cannot be empty. Forget messages instead, or write what counts.")
    past = read_past(conversation.pk, conversation.head_id or 0, model.fingerprint)
    assert past is not None, "a summary lies on the branch, so there is one"
    needed, available = size(Notes(text), past.layout, model.count), budget_of(model).summary
    if needed > available:
        raise RefusedPost("summary_too_long", f"This has {needed:,} tokens; a summary may have {available:,}.")
    return conversation.summaries.create(
        covers_until_id=old.covers_until_id, grown_from=old, text=text, author=Summary.Author.PERSON
    )


@transaction.atomic
def restore(conversation: Conversation, summary: int) -> None:
    """Use an earlier version again; those on this branch that would win over it are retired."""
    conversation.lock()
    row = _on_branch(conversation, summary)
    path = path_to(conversation, conversation.head_id)
    place = {pk: at for at, pk in enumerate(path)}
    here = conversation.summaries.filter(covers_until_id__in=path[place[row.covers_until_id] :], retired=False)
    winners = [
        other.pk for other in here if (place[other.covers_until_id], other.pk) > (place[row.covers_until_id], row.pk)
    ]
    conversation.summaries.filter(pk__in=winners).update(retired=True)
    conversation.summaries.filter(pk=row.pk).update(retired=False)


@transaction.atomic
def pin(conversation: Conversation, message: int, model: "LocalChatModel") -> None:
    """Show a message of the shown branch verbatim from now on, however old it gets."""
    conversation.lock()
    path = path_to(conversation, conversation.head_id)
    row = conversation.messages.filter(pk=message).first()
    if row is None or row.pk not in path:
        raise RefusedPost("unknown_message", "This message is not in what is shown. Load the page again.")
    if not is_shown(row):
        raise RefusedPost("cannot_pin", "Only a message with a text can be pinned, and a reply once it is finished.")
    past = read_past(conversation.pk, path[-1], model.fingerprint)
    assert past is not None, "the message lies on the branch, so there is one"
    needed, available = _size_with(past, row, model), budget_of(model).pinned
    if needed > available:
        raise RefusedPost(
            "pins_too_long",
            f"With this one, the pinned messages would have {needed:,} tokens; {available:,} are kept for them. "
            "Unpin another one first.",
        )
    conversation.messages.filter(pk=row.pk).update(pinned=True)


def unpin(conversation: Conversation, message: int) -> None:
    """Let a message be summarised like others."""
    if not conversation.messages.filter(pk=message).update(pinned=False):
        raise RefusedPost("unknown_message", "This message is not in this conversation. Load the page again.")


def budget_of(model: "LocalChatModel") -> Budget:
    """How this model's context is shared out."""
    return Budget.of(model.context_tokens, settings.LLM_MAX_REPLY_TOKENS)


def _on_branch(conversation: Conversation, summary: int) -> Summary:
    path = path_to(conversation, conversation.head_id)
    row = conversation.summaries.filter(pk=summary).first()
    if row is None or row.covers_until_id not in path:
        raise RefusedPost("unknown_summary", "This summary does not belong to what is shown. Load the page again.")
    return row


def _size_with(past: Branch, row: Message, model: "LocalChatModel") -> int:
    """Tokens of the branch's pinned messages together with this one."""
    turns = Message.objects.filter(pk__in={*past.layout.pins, row.pk}).order_by("id")
    return size_pinned([as_message(turn, model.fingerprint) for turn in turns], past.layout, model.count)


def _gauge(past: Branch, budget: Budget, model: "LocalChatModel") -> Gauge | None:
    try:
        prompt = build(past.layout, budget, model.count)
    except MessageTooLong:  # the system prompt alone is too large
        return None
    parts = [(part.kind, part.num_tokens) for part in prompt.parts]
    return Gauge(parts, budget.prompt, budget.high, budget.context, budget.reserve)
