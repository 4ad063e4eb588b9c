"""The tables: conversations and their messages, what is remembered of them, and who read them."""

from chat.models.conversations import (
    MODEL_NAME,
    Conversation,
    ConversationQuerySet,
    Message,
    Posted,
    RefusedPost,
    title_from,
)
from chat.models.looks import Look
from chat.models.remembered import Fact, Summary, Vector

__all__ = [
    "MODEL_NAME",
    "Conversation",
    "ConversationQuerySet",
    "Fact",
    "Look",
    "Message",
    "Posted",
    "RefusedPost",
    "Summary",
    "Vector",
    "title_from",
]
