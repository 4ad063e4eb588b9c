"""The use cases that cross database, memory, engine and sockets: send, stop, retry, show a branch, follow."""

from chat.models import RefusedPost
from chat.services.following import FROM_NOW, Standing, describe_all, follow_reply, look_at, pins_of, stop_reply
from chat.services.notices import announce_title, group_of
from chat.services.posting import Sent, retry_reply, send_message, show_branch
from chat.services.purging import close as purge_now
from chat.services.remembering import delete_now
from chat.services.writing import close, prewarm

__all__ = [
    "FROM_NOW",
    "RefusedPost",
    "Sent",
    "Standing",
    "announce_title",
    "close",
    "delete_now",
    "describe_all",
    "follow_reply",
    "group_of",
    "look_at",
    "pins_of",
    "prewarm",
    "purge_now",
    "retry_reply",
    "send_message",
    "show_branch",
    "stop_reply",
]
