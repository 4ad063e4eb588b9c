"""Messages as the frames show them, with HTML that is made outside the event loop."""

import asyncio
import html
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from chat import rendering
from chat.models import Message

logger = logging.getLogger(__name__)
R = TypeVar("R")
_threads = ThreadPoolExecutor(max_workers=2, thread_name_prefix="render")


async def in_renderer(work: Callable[..., R], *args: Any) -> R:
    """Run a function that makes HTML; some input keeps it busy for long."""
    return await asyncio.get_running_loop().run_in_executor(_threads, work, *args)


async def describe(message: Message) -> dict[str, Any]:
    """The message with its HTML."""
    if message.role == Message.Role.USER or not message.text:
        return described(message, "")
    try:
        return described(message, await in_renderer(rendering.render, message.text))
    except Exception:
        logger.exception("Message %s could not be rendered; it is shown as it is.", message.pk)
        return described(message, plain(message.text))


def described(message: Message, html: str) -> dict[str, Any]:
    """The fields that docs/protocol.md promises of a message."""
    return {
        "id": message.pk,
        "parent": message.parent_id,
        "role": str(message.role),
        "status": str(message.status),
        "text": message.text,
        "reasoning": message.reasoning,
        "html": html,
        "error": message.error,
        "client_id": str(message.client_id) if message.client_id else None,
        "model": message.model,
        "usage": message.usage,
        "created_at": message.created_at.isoformat(),
    }


def plain(text: str) -> str:
    """HTML that shows a text as it is."""
    return f"<pre>{html.escape(text)}</pre>"
