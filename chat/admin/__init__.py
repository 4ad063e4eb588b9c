"""The history panel: conversations, their messages, and who read other people's."""

from chat.admin.conversations import ConversationAdmin
from chat.admin.looks import LookAdmin
from chat.admin.messages import MessageAdmin

__all__ = ["ConversationAdmin", "LookAdmin", "MessageAdmin"]
