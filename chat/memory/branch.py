"""A branch of a conversation as the prompt builder takes it, read from the database, and summaries written to it.

Order is the tree's, never the clocks'. Everything is reached through one conversation, so nothing of another gets in.
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace

from django.db import transaction
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage

from chat.memory.prompt import Layout, Notes, ids
from chat.models import MODEL_NAME, Conversation, Fact, Message, Summary

_TO_COME = HumanMessage(".")


@dataclass(frozen=True)
class Branch:
    """A branch up to one message: its path of ids from the first to the last, and the layout of a prompt for it."""

    conversation: uuid.UUID
    owner: int
    path: list[int]
    layout: Layout

    def covered_by(self, cut: int) -> int:
        """The id of the last message before the turn at `cut`, a reply that is not shown included."""
        if cut == len(self.layout.turns):
            return self.path[-1]
        return self.path[self.path.index(ids(self.layout.turns[cut : cut + 1])[0]) - 1]


def read_question(reply: Message, fingerprint: str) -> Branch:
    """The branch that ends in the message which `reply` answers. Raises DoesNotExist when that is gone."""
    conversation = Conversation.objects.get(pk=reply.conversation_id)
    question = conversation.messages.get(children=reply.pk)
    path = path_to(conversation, question.pk)
    return _branch(conversation, path, path[:-1], as_message(question, fingerprint), fingerprint)


def read_past(conversation_id: uuid.UUID, leaf: int, fingerprint: str) -> Branch | None:
    """The branch that ends in `leaf`, before anything was said after it. None when it is gone."""
    conversation = Conversation.objects.filter(pk=conversation_id).first()
    path = path_to(conversation, leaf) if conversation else []
    return _branch(conversation, path, path, _TO_COME, fingerprint) if conversation and path else None


def read_pins(conversation: Conversation, leaf: int | None, fingerprint: str) -> Layout:
    """What every prompt after `leaf` holds, whatever else is left out, with a message to come."""
    pins = conversation.messages.filter(pinned=True)
    path = path_to(conversation, leaf) if pins else []
    shown = tuple(as_message(row, fingerprint) for row in pins if row.pk in path and is_shown(row))
    return Layout(_TO_COME, system_of(conversation), pinned=shown, pins=frozenset(ids(shown)))


def path_to(conversation: Conversation, leaf: int | None) -> list[int]:
    """The ids from the first message to `leaf`; none if that was deleted or never was in this conversation."""
    try:
        return conversation.path(leaf) if leaf else []
    except KeyError:
        return []


def applying(conversation: Conversation, path: Sequence[int]) -> int | None:
    """The id of the summary in use: the one that reaches furthest on this path, the newest of several."""
    place = {pk: at for at, pk in enumerate(path)}
    marks = conversation.summaries.filter(retired=False).values_list("covers_until_id", "id")
    return max(((place[until], pk) for until, pk in marks if until in place), default=(0, None))[1]


def is_shown(row: Message) -> bool:
    """A reply that is not finished or has no text is in no prompt; the message that it answers is."""
    return not row.is_unfinished and bool(row.text.strip())


def as_message(row: Message, fingerprint: str) -> BaseMessage:
    """The row as the model is shown it; a reply as the tokens that were sampled, if this model reads them."""
    if row.role == Message.Role.USER:
        return HumanMessage(row.text, id=str(row.pk))
    if not row.token_ids or row.fingerprint != fingerprint:
        return AIMessage(row.text, id=str(row.pk))
    sampled = {"token_ids": bytes(row.token_ids), "fingerprint": row.fingerprint}
    return AIMessage(row.text, id=str(row.pk), additional_kwargs=sampled)


def system_of(conversation: Conversation) -> tuple[SystemMessage, ...]:
    """Its system prompt, if it has one."""
    return (SystemMessage(conversation.system_prompt),) if conversation.system_prompt.strip() else ()


def facts_of(conversation: Conversation) -> tuple[str, ...]:
    """What it began with knowing about its owner, as far as he still has it remembered."""
    facts = Fact.objects.filter(pk__in=conversation.facts, owner=conversation.owner_id, owner__remembers_facts=True)
    return tuple(facts.values_list("text", flat=True))


@transaction.atomic
def store(branch: Branch, cut: int, *, text: str, author: str, model: str) -> Summary | None:
    """A new summary of the notes and the turns before `cut`.

    None if in the meantime the branch or the notes have changed, or one of those turns was forgotten.
    """
    conversation = Conversation.locked().filter(pk=branch.conversation).first()
    path = path_to(conversation, branch.path[-1]) if conversation else []
    notes = branch.layout.notes
    if not conversation or path != branch.path or applying(conversation, path) != (notes.summary if notes else None):
        return None
    forgotten = conversation.messages.filter(status=Message.Status.FORGOTTEN).values_list("pk", flat=True)
    if not set(ids(branch.layout.turns[:cut])).isdisjoint(forgotten):
        return None
    return conversation.summaries.create(
        covers_until_id=branch.covered_by(cut),
        grown_from_id=notes.summary if notes else None,
        text=text,
        author=author,
        model=model[:MODEL_NAME],
    )


def _branch(
    conversation: Conversation, path: list[int], before: list[int], message: BaseMessage, fingerprint: str
) -> Branch:
    assert isinstance(message, HumanMessage), "the database demands a person's message before each reply"
    notes, rest = None, before
    used = applying(conversation, before)
    if used and (summary := conversation.summaries.filter(pk=used).first()):
        covered = before.index(summary.covers_until_id) + 1
        notes, rest = Notes(summary.text, tuple(before[:covered]), summary.pk), before[covered:]
    pins = set(conversation.messages.filter(pinned=True).values_list("pk", flat=True)).intersection(before)
    rows = conversation.messages.in_bulk([*rest, *pins])
    shown = {pk: as_message(row, fingerprint) for pk, row in rows.items() if is_shown(row)}
    if notes:
        notes = replace(notes, messages=tuple(pk for pk in notes.messages if pk not in pins))
    layout = Layout(
        message=message,
        system=system_of(conversation),
        facts=facts_of(conversation),
        notes=notes,
        pinned=tuple(shown[pk] for pk in before if pk in shown and pk in pins and pk not in set(rest)),
        turns=tuple(shown[pk] for pk in rest if pk in shown),
        pins=frozenset(pins),
    )
    return Branch(conversation.pk, conversation.owner_id, path, layout)
