"""Notices to everybody who looks at a conversation. They carry ids and titles; text travels through chat.replies."""

import logging
from typing import Any
from uuid import UUID

from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer

logger = logging.getLogger(__name__)


def group_of(conversation: UUID) -> str:
    """The name under which the sockets of a conversation are reached."""
    return f"conversation.{conversation.hex}"


async def tell_posted(conversation: UUID, message: int, reply: int, sender: str) -> None:
    """A message (0 for none: a retry) and the reply to it exist. `sender` is the channel that knows it already."""
    await _tell(conversation, {"type": "conversation.posted", "message": message, "reply": reply, "sender": sender})


async def tell_title(conversation: UUID, title: str) -> None:
    """It is called something else now."""
    await _tell(conversation, {"type": "conversation.retitled", "title": title})


async def tell_head(conversation: UUID, head: int, sender: str = "") -> None:
    """Another branch is shown now."""
    await _tell(conversation, {"type": "conversation.moved", "head": head, "sender": sender})


async def tell_forgotten(conversation: UUID, messages: list[int]) -> None:
    """These messages have been forgotten."""
    await _tell(conversation, {"type": "conversation.forgotten", "messages": messages})


async def tell_remembered(conversation: UUID, tab: str = "") -> None:
    """What is remembered has changed: pins, a summary, or that one is being written. `tab` is the page that knows."""
    await _tell(conversation, {"type": "conversation.remembered", "tab": tab})


def announce_title(conversation: UUID, title: str) -> None:
    """The same as tell_title, for a view."""
    async_to_sync(tell_title)(conversation, title)


async def _tell(conversation: UUID, notice: dict[str, Any]) -> None:
    layer = get_channel_layer()
    assert layer is not None, "CHANNEL_LAYERS has no default"
    try:
        await layer.group_send(group_of(conversation), notice)
    except Exception:
        # What happened is in the database; a page that missed the notice sees it when it connects again.
        logger.exception("Nobody could be told of %s in conversation %s.", notice["type"], conversation)
