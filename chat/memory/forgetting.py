"""Forgetting messages for real: their words leave every table, and whatever was made from them goes with them.

What other messages repeat of them stays: those can be forgotten too.
"""

import uuid
from collections.abc import Iterable
from dataclasses import dataclass, field

from django.db import transaction

from chat.models import Conversation, Fact, Message, RefusedPost, Vector, title_from


@dataclass(frozen=True)
class Forgotten:
    """What was forgotten, and what follows from it elsewhere."""

    messages: list[int] = field(default_factory=list)
    title: str | None = None  # the conversation's new one, if its old one was made from what was forgotten
    cached: list[uuid.UUID] = field(default_factory=list)  # conversations whose prompts may have held it


@transaction.atomic
def forget(conversation: Conversation, message: int, *, with_answers: bool) -> Forgotten:
    """Forget a message; a person's `with_answers` takes all replies to it along. Nothing for one forgotten before.

    Raises RefusedPost for a message that is not there, and while a reply is written that may have been shown it.
    """
    conversation.lock()
    rows = conversation.messages.exclude(status=Message.Status.FORGOTTEN)
    if not conversation.messages.filter(pk=message).exists():
        raise RefusedPost("unknown_message", "This message is not in this conversation. Load the page again.")
    chosen = rows.filter(pk=message)
    if with_answers:
        chosen |= rows.filter(parent=message, role=Message.Role.ASSISTANT)
    doomed = {row.pk: row.text for row in chosen.only("pk", "text")}
    if not doomed:
        return Forgotten()
    after = _and_all_after(conversation, doomed)
    if conversation.messages.filter(status__in=Message.UNFINISHED, pk__in=after).exists():
        raise RefusedPost("reply_running", "A reply that knows this message is being written. Stop it or wait for it.")
    cached = [conversation.pk, *_shown_elsewhere(conversation, doomed)]
    _empty(conversation, doomed)
    conversation.summaries.filter(pk__in=_summaries_of(conversation, after)).delete()
    return Forgotten(sorted(doomed), _retitled(conversation, doomed.values()), cached)


def _and_all_after(conversation: Conversation, messages: Iterable[int]) -> set[int]:
    found = set(messages)
    for pk, parent in conversation.messages.order_by("pk").values_list("pk", "parent_id"):
        if parent in found:  # a parent is always older than its children
            found.add(pk)
    return found


def _shown_elsewhere(conversation: Conversation, doomed: Iterable[int]) -> list[uuid.UUID]:
    """Other conversations of this person that began with a fact from what is forgotten."""
    facts = set(Fact.objects.filter(source__in=doomed).values_list("pk", flat=True))
    others = Conversation.objects.filter(owner=conversation.owner_id).exclude(pk=conversation.pk)
    return [pk for pk, known in others.values_list("pk", "facts") if facts.intersection(known)] if facts else []


def _empty(conversation: Conversation, doomed: Iterable[int]) -> None:
    rows = conversation.messages.filter(pk__in=list(doomed))
    Vector.objects.filter(message__in=rows).delete()
    Fact.objects.filter(source__in=rows).delete()
    # A client_id stays, so that the same message is not posted anew; what a reply measured is numbers alone.
    rows.update(
        status=Message.Status.FORGOTTEN,
        text="",
        reasoning="",
        error="",
        token_ids=b"",
        fingerprint="",
        sent={},
        pinned=False,
    )


def _summaries_of(conversation: Conversation, messages: set[int]) -> set[int]:
    """Those that reach up to one of these messages, and all that grew from them."""
    found: set[int] = set()
    for pk, until, grown_from in conversation.summaries.values_list("pk", "covers_until_id", "grown_from_id"):
        if until in messages or grown_from in found:
            found.add(pk)
    return found


def _retitled(conversation: Conversation, texts: Iterable[str]) -> str | None:
    """Another title if the old one was made from a forgotten message: from the first that is left, or none."""
    if not conversation.title or conversation.title not in {title_from(text) for text in texts}:
        return None
    left = conversation.messages.filter(role=Message.Role.USER, status=Message.Status.COMPLETE).first()
    title = title_from(left.text) if left else ""
    Conversation.objects.filter(pk=conversation.pk).update(title=title)
    return title
