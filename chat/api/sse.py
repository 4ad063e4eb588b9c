"""Server-sent events: a reply as it grows, over HTTP."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable
from contextlib import aclosing
from typing import Any

import orjson
from django.http import StreamingHttpResponse

from chat.api.errors import described
from chat.api.generation import Joined
from chat.inference import Event, Queued

DONE = b"data: [DONE]\n\n"
Describe = Callable[[int, Event], Iterable[dict[str, Any]]]


class _EventStream(StreamingHttpResponse):
    """An answer whose body, bytes already, is iterated as it is: two generators less for each token."""

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._body

    def __init__(self, body: AsyncGenerator[bytes], **options: Any) -> None:
        super().__init__(body, **options)
        self._body = body


async def streamed(
    events: Joined, describe: Describe, last: Callable[[], Iterable[dict[str, Any]]]
) -> StreamingHttpResponse:
    """The answer whose body is what `describe` makes of each event, and `last` of the end.

    Returns when the first event is there, so that what is refused at once has a status code of its own. When the
    client leaves, Django ends the iteration and so the replies.
    """
    first = await anext(events)
    body = _body(first, events, describe, last)
    response = _EventStream(body, content_type="text/event-stream; charset=utf-8")
    response["Cache-Control"] = "no-store"
    response["X-Accel-Buffering"] = "no"  # or nginx would collect the reply
    return response


async def _body(
    first: Any, events: Joined, describe: Describe, last: Callable[[], Iterable[dict[str, Any]]]
) -> AsyncGenerator[bytes]:
    async with aclosing(events):
        try:
            yield _framed(first, describe)
            async for event in events:
                if framed := _framed(event, describe):
                    yield framed
            for part in last():
                yield frame(part)
            yield DONE
        except Exception as error:  # the status has been sent
            yield frame(described(error).body)


def _framed(event: tuple[int, Event] | None, describe: Describe) -> bytes:
    # Comments: clients skip them, and everything in between sees that the stream lives.
    if event is None:
        return b": waiting\n\n"
    if isinstance(event[1], Queued):
        return f": queued position={event[1].position} seconds={event[1].seconds}\n\n".encode()
    return b"".join(frame(part) for part in describe(*event))


def frame(part: dict[str, Any]) -> bytes:
    """One event."""
    return b"data: " + orjson.dumps(part) + b"\n\n"
