"""The socket's frames: what a client may send, and one constructor for each frame that the server sends."""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

Json = dict[str, Any]
_LARGEST_ID = 2**63 - 1


class BadFrame(Exception):
    """What came in is none of the frames; the text tells a person why, `client_id` which message it was about."""

    def __init__(self, text: str, client_id: UUID | None = None) -> None:
        """Keep the client_id, if there was a usable one, so that the sender can match the answer."""
        super().__init__(text)
        self.client_id = client_id


@dataclass(frozen=True, slots=True)
class Send:
    """Post a message after `parent`."""

    client_id: UUID
    parent: int | None
    text: str


@dataclass(frozen=True, slots=True)
class Stop:
    """End a reply."""

    reply: int


@dataclass(frozen=True, slots=True)
class Retry:
    """Write another reply beside this one."""

    reply: int
    client_id: UUID


@dataclass(frozen=True, slots=True)
class Follow:
    """Send what a reply has beyond part `after`, then go on."""

    reply: int
    after: int


@dataclass(frozen=True, slots=True)
class Show:
    """Show the newest branch through a message."""

    message: int


@dataclass(frozen=True, slots=True)
class Ping:
    """Ask for a pong."""


Frame = Send | Stop | Retry | Follow | Show | Ping


def parse(raw: str) -> Frame:
    """The frame in a text; raises BadFrame. Fields that a frame does not have are ignored."""
    fields = _load(raw)
    kind = fields.get("type")
    if not isinstance(kind, str) or kind not in _FRAMES:
        raise BadFrame("This type of frame does not exist.")
    build, readers = _FRAMES[kind]
    return build(**{name: _read(fields, name, reader) for name, reader in readers.items()})


def encode(frame: Json) -> str:
    """The text that goes over the wire: ASCII, so that no half of a surrogate pair can break a connection."""
    return json.dumps(frame, separators=(",", ":"))


def hello(
    conversation: UUID,
    title: str,
    head: int | None,
    unfinished: Iterable[int],
    pinned: Iterable[int],
    forgotten: Iterable[int],
) -> Json:
    """The first frame of a socket."""
    return {
        "type": "hello",
        "conversation": str(conversation),
        "title": title,
        "head": head,
        "unfinished": list(unfinished),
        "pinned": list(pinned),
        "forgotten": list(forgotten),
    }


def message_created(message: Json) -> Json:
    """A person's message is stored."""
    return {"type": "message.created", "message": message}


def reply_started(message: Json) -> Json:
    """The reply to it exists; whatever is known of it later, this frame shows it empty."""
    return {"type": "reply.started", "message": message | {"status": "queued", "text": "", "reasoning": "", "html": ""}}


def branched(message: int, parent: int | None) -> Json:
    """The message began a branch, because the conversation had gone on from its parent."""
    return {"type": "branched", "message": message, "parent": parent}


def reply_queued(reply: int, position: int, seconds: int) -> Json:
    """The reply waits; position 1 is next, and in about so many seconds it begins."""
    return {"type": "reply.queued", "reply": reply, "position": position, "seconds": seconds}


def reply_delta(reply: int, seq: int, text: str, reasoning: str, closed: str, open: str) -> Json:  # noqa: A002
    """New text of a reply, and what changes in its HTML."""
    return {
        "type": "reply.delta",
        "reply": reply,
        "seq": seq,
        "text": text,
        "reasoning": reasoning,
        "closed": closed,
        "open": open,
    }


def reply_done(message: Json) -> Json:
    """The reply has ended."""
    return {"type": "reply.done", "message": message}


def title_changed(title: str) -> Json:
    """The conversation is called something else now."""
    return {"type": "title.changed", "title": title}


def head_changed(head: int | None) -> Json:
    """Another branch is shown now."""
    return {"type": "head.changed", "head": head}


def message_forgotten(messages: Iterable[int]) -> Json:
    """These messages have been forgotten; nothing of them is left but their places."""
    return {"type": "message.forgotten", "messages": list(messages)}


def memory_changed(pinned: Iterable[int], tab: str) -> Json:
    """What is remembered has changed; these messages are pinned now, and `tab` is the page that did it."""
    return {"type": "memory.changed", "pinned": list(pinned), "tab": tab}


def error(code: str, text: str, *, client_id: UUID | None = None, reply: int | None = None) -> Json:
    """A frame was refused; `text` is for people."""
    frame: Json = {"type": "error", "code": code, "text": text}
    if client_id is not None:
        frame["client_id"] = str(client_id)
    if reply is not None:
        frame["reply"] = reply
    return frame


def pong() -> Json:
    """The answer to a ping."""
    return {"type": "pong"}


def _load(raw: str) -> Json:
    try:
        fields = json.loads(raw)
    except (ValueError, RecursionError):
        raise BadFrame("This frame is not JSON.") from None
    if not isinstance(fields, dict):
        raise BadFrame("A frame is a JSON object.")
    return fields


def _read(fields: Json, name: str, reader: Callable[[Any], Any]) -> Any:
    try:
        return reader(fields[name])
    except (KeyError, TypeError, ValueError):
        raise BadFrame(f"The field {name} is missing or wrong.", _client_id_of(fields)) from None


def _client_id_of(fields: Json) -> UUID | None:
    try:
        return _uuid(fields.get("client_id"))
    except (TypeError, ValueError):
        return None


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _uuid(value: Any) -> UUID:
    return UUID(_text(value))


def _number(value: Any) -> int:
    # True is an int in Python, and a number beyond 64 bits would fail only in the database.
    if type(value) is not int:
        raise TypeError
    if not 0 <= value <= _LARGEST_ID:
        raise ValueError
    return value


def _number_or_none(value: Any) -> int | None:
    return None if value is None else _number(value)


_FRAMES: dict[str, tuple[Callable[..., Frame], dict[str, Callable[[Any], Any]]]] = {
    "message.send": (Send, {"client_id": _uuid, "parent": _number_or_none, "text": _text}),
    "reply.stop": (Stop, {"reply": _number}),
    "reply.retry": (Retry, {"reply": _number, "client_id": _uuid}),
    "reply.follow": (Follow, {"reply": _number, "after": _number}),
    "branch.show": (Show, {"message": _number}),
    "ping": (Ping, {}),
}
