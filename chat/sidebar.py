"""The list of conversations beside the page, grouped by when they were used last."""

import uuid
from dataclasses import dataclass, field
from datetime import date, timedelta

from django.db.models import Q
from django.utils import timezone

from accounts.models import User
from chat.models import Conversation

LIST_SIZE = 200
_AGES = ((0, "Today"), (1, "Yesterday"), (7, "Previous 7 days"), (30, "Previous 30 days"))


@dataclass
class Group:
    """Conversations of about the same age under one heading."""

    heading: str
    conversations: list[Conversation] = field(default_factory=list)


def groups(person: User, query: str = "", current: uuid.UUID | None = None) -> list[Group]:
    """The newest LIST_SIZE conversations that have the query in their title. Empty ones only if current."""
    found = Conversation.objects.visible_to(person).filter(Q(head__isnull=False) | Q(pk=current))
    if query:
        found = found.filter(title__icontains=query)
    listed: list[Group] = []
    today = timezone.localdate()
    for conversation in found.only("title", "updated_at")[:LIST_SIZE]:
        heading = _heading(timezone.localdate(conversation.updated_at), today)
        if not listed or listed[-1].heading != heading:
            listed.append(Group(heading))
        listed[-1].conversations.append(conversation)
    return listed


def _heading(day: date, today: date) -> str:
    return next((name for days, name in _AGES if day >= today - timedelta(days)), "Older")
