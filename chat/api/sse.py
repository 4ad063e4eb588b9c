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


async def streamed(
    events: Joined, describe: Describe, last: Callable[[], Iterable[dict[str, Any]]]
) -> StreamingHttpResponse:
    """The answer whose body is what `describe` makes of each event, and `last` of the end.

    Returns when the first event is there, so that what is refused at once has a status code of its own. When the
    client leaves, Django ends the iteration and so the replies.
    """
    first = await anext(events)
    body = _body(first, events, describe, last)
    response = StreamingHttpResponse(body, content_type="text/event-stream; charset=utf-8")
    response["Cache-Control"] = "no-store"
    response["X-Accel-Buffering"] = "no"  # or nginx would collect the reply
    return response


async def _body(
    first: Any, events: Joined, describe: Describe, last: Callable[[], Iterable[dict[str, Any]]]
) -> AsyncIterator[bytes]:
    async with aclosing(events):
        try:
            async for event in _chained(first, events):
                # Comments: clients skip them, and everything in between sees that the stream lives.
                if event is None:
                    yield b": waiting\n\n"
                elif isinstance(event[1], Queued):
                    yield f": queued position={event[1].position} seconds={event[1].seconds}\n\n".encode()
                else:
                    for part in describe(*event):
                        yield frame(part)
            for part in last():
                yield frame(part)
            yield DONE
        except Exception as error:  # the status has been sent
            yield frame(described(error).body)


async def _chained(first: Any, events: Joined) -> AsyncGenerator[tuple[int, Event] | None]:
    yield first
    async for event in events:
        yield event


def frame(part: dict[str, Any]) -> bytes:
    """One event."""
    return b"data: " + orjson.dumps(part) + b"\n\n"
