"""What a page shows of a conversation: one stretch of its branch, each message with its HTML and its siblings."""

import json
import logging
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from django.utils.html import format_html
from django.utils.safestring import SafeString

from chat import rendering
from chat.models import Conversation, Message

PAGE_SIZE = 100
logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Entry:
    """A message as the page shows it; `siblings` are the ids of all messages in its place, itself included."""

    message: Message
    siblings: tuple[int, ...] = ()

    @property
    def html(self) -> SafeString:
        """A reply as safe HTML; nothing for a person's message, which is shown as typed."""
        if self.message.role == Message.Role.USER or not self.message.text:
            return SafeString()
        # What is still being written changes every second: not worth a place in the cache.
        render = rendering.render if self.message.is_unfinished else _rendered
        try:
            return render(self.message.text)
        except Exception:
            logger.exception("Message %s could not be rendered; it is shown as it is.", self.message.pk)
            return format_html("<pre>{}</pre>", self.message.text)

    @property
    def usage(self) -> str:
        """The engine's figures as JSON; the script writes the line, for replies of any age alike."""
        return json.dumps(self.message.usage) if self.message.usage else ""

    @property
    def place(self) -> int:
        """Which of its siblings it is, from 1."""
        return self.siblings.index(self.message.pk) + 1 if self.siblings else 1

    @property
    def older(self) -> int | None:
        """The sibling before it."""
        return self.siblings[self.place - 2] if self.place > 1 else None

    @property
    def newer(self) -> int | None:
        """The sibling after it."""
        return self.siblings[self.place] if self.place < len(self.siblings) else None


@dataclass(frozen=True)
class Stretch:
    """Some messages in a row, oldest first; `earlier` is the id to ask for what stands before them."""

    entries: list[Entry]
    earlier: int | None


def stretch(conversation: Conversation, before: int | None = None, size: int = PAGE_SIZE) -> Stretch:
    """The newest `size` messages of the branch that is shown, or those right before the message `before`.

    Raises Message.DoesNotExist when `before` is not in that branch.
    """
    path = conversation.path()
    if before is not None and before not in path:
        raise Message.DoesNotExist
    end = len(path) if before is None else path.index(before)
    start = max(0, end - size)
    shown = path[start:end]
    rows = conversation.messages.defer("token_ids").in_bulk(shown)
    siblings = _siblings(conversation, rows.values())
    entries = [Entry(rows[pk], siblings[rows[pk].parent_id]) for pk in shown]
    return Stretch(entries, earlier=shown[0] if start else None)


def blank_entries() -> list[Entry]:
    """An empty message of each role: what the script makes new ones from."""
    person = Message(role=Message.Role.USER, status=Message.Status.COMPLETE)
    reply = Message(role=Message.Role.ASSISTANT, status=Message.Status.QUEUED)
    return [Entry(person), Entry(reply)]


def forget_texts() -> None:
    """Drop the HTML that is remembered, after somebody deleted his texts."""
    _rendered.cache_clear()


def _siblings(conversation: Conversation, messages: Iterable[Message]) -> dict[int | None, tuple[int, ...]]:
    parents = {message.parent_id for message in messages}
    found: dict[int | None, list[int]] = defaultdict(list)
    rows = conversation.messages.filter(parent_id__in=parents - {None})
    if None in parents:
        rows |= conversation.messages.filter(parent=None)
    for pk, parent in rows.order_by("id").values_list("id", "parent_id"):
        found[parent].append(pk)
    return {parent: tuple(children) for parent, children in found.items()}


@lru_cache(maxsize=512)
def _rendered(text: str) -> SafeString:
    return rendering.render(text)
