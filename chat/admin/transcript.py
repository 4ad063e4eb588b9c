"""A conversation to be read: one branch of it, page by page, with the summaries where they stand."""

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

from django.core.paginator import Paginator
from django.http import Http404, QueryDict

from chat import memory_panel
from chat.models import Conversation, Message, Summary
from chat.transcript import Entry

PAGE_SIZE = 100


@dataclass
class Line:
    """A message, the ids of what else stands in its place, and the summaries that end with it."""

    entry: Entry
    others: list[int]
    summaries: list[Summary] = field(default_factory=list)


def transcript(conversation: Conversation, asked: QueryDict) -> dict[str, Any]:
    """What the template shows: the branch that is shown, or the newest through `message`, and one page of it.

    Raises Http404 for a message or a page that is not there.
    """
    tree = _Tree(conversation)
    message = _number(asked, "message")
    if message is not None and message not in tree.parents:
        raise Http404
    path = tree.path(tree.newest_leaf(message) if message else conversation.head_id)
    pages = Paginator(path, PAGE_SIZE)
    number = _number(asked, "page") or (path.index(message) // PAGE_SIZE + 1 if message else 1)
    if number not in pages.page_range:
        raise Http404
    page = pages.page(number)
    return {
        "conversation": conversation,
        "panel": memory_panel.panel(conversation.pk, conversation.owner_id),
        "lines": _lines(conversation, tree, list(page.object_list)),
        "page": page,
        "through": message,
        "is_shown_branch": not path or path[-1] == conversation.head_id,
    }


def reply_asked_for(conversation: Conversation, asked: QueryDict) -> Message | None:
    """The reply that `sent` names, if it names one. Raises Http404 for one that is not there."""
    if (pk := _number(asked, "sent")) is None:
        return None
    try:
        return conversation.messages.get(pk=pk, role=Message.Role.ASSISTANT)
    except Message.DoesNotExist:
        raise Http404 from None


class _Tree:
    """Who follows whom, by ids alone."""

    def __init__(self, conversation: Conversation) -> None:
        self.parents: dict[int, int | None] = dict(conversation.messages.values_list("id", "parent_id"))
        self.children: defaultdict[int | None, list[int]] = defaultdict(list)
        for pk, parent in self.parents.items():
            self.children[parent].append(pk)

    def newest_leaf(self, pk: int) -> int:
        while self.children[pk]:
            pk = max(self.children[pk])
        return pk

    def path(self, leaf: int | None) -> list[int]:
        path = []
        while leaf is not None:
            path.append(leaf)
            leaf = self.parents[leaf]
        return path[::-1]


def _lines(conversation: Conversation, tree: _Tree, ids: list[int]) -> list[Line]:
    rows: dict[int, Message] = conversation.messages.defer("token_ids").in_bulk(ids)
    lines = {}
    for pk in ids:
        siblings = tree.children[tree.parents[pk]]
        lines[pk] = Line(Entry(rows[pk], tuple(siblings)), [other for other in siblings if other != pk])
    for summary in conversation.summaries.filter(covers_until__in=ids):
        lines[summary.covers_until_id].summaries.append(summary)
    return list(lines.values())


def _number(asked: QueryDict, name: str) -> int | None:
    value = asked.get(name)
    if not value:
        return None
    if not (value.isascii() and value.isdecimal()):
        raise Http404
    return int(value)
