"""Asks a server for a reply over HTTP and notes when each piece came; light, so that it disturbs little."""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Self
from urllib.parse import urlsplit

import orjson

Message = dict[str, str]


class ServerFailed(Exception):
    """A server refused, broke off, or wrote something else than what was asked for."""


@dataclass
class Reply:
    """A reply as its reader saw it. Times are seconds on the monotonic clock; `times` has one entry a piece of text."""

    asked: float = field(default_factory=time.monotonic)
    times: list[float] = field(default_factory=list)
    text: str = ""
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0

    def add(self, part: dict[str, Any]) -> bool:
        """Take an event in OpenAI's shape; returns whether it brought text."""
        if "error" in part:
            raise ServerFailed(str(part["error"]))
        if usage := part.get("usage"):
            self.prompt_tokens, self.completion_tokens = usage["prompt_tokens"], usage["completion_tokens"]
            self.cached_tokens = (usage.get("prompt_tokens_details") or {}).get("cached_tokens", 0)
        text = "".join(choice["delta"].get("content") or "" for choice in part.get("choices", ()))
        return self.grow(text)

    def grow(self, text: str) -> bool:
        """Take a piece of text; returns whether there is any in it."""
        if text:
            self.times.append(time.monotonic())
            self.text += text
        return bool(text)

    @property
    def first_token(self) -> float:
        """Seconds from the question to the first piece of text."""
        return self.times[0] - self.asked

    @property
    def tokens_a_second(self) -> float:
        """While it was written, the prompt's reading not counted."""
        return (self.completion_tokens - 1) / (self.times[-1] - self.times[0])


class Client:
    """Speaks to one server. `bias` is the `logit_bias` of every request."""

    def __init__(self, url: str, key: str = "", bias: dict[str, float] | None = None) -> None:
        address = urlsplit(url)
        self._host, self._port = address.hostname or "", address.port or 80
        self._key, self._bias = key, bias or {}

    async def chat(self, messages: list[Message], max_tokens: int) -> Reply:
        """The whole reply. Raises ServerFailed, also when it is shorter than `max_tokens`."""
        reply = Reply()
        async with aclosing(self.stream(messages, max_tokens, reply)) as pieces:
            async for _ in pieces:
                pass
        if reply.completion_tokens != max_tokens or not reply.times:
            raise ServerFailed(f"{reply.completion_tokens} tokens came instead of {max_tokens}: {reply.text!r}")
        return reply

    async def stream(self, messages: list[Message], max_tokens: int, reply: Reply) -> AsyncGenerator[Reply]:
        """Yields `reply` whenever text was added to it. Leaving the iteration hangs up."""
        body = {
            "messages": messages,
            "stream": True,
            "stream_options": {"include_usage": True},
            "max_tokens": max_tokens,
            "temperature": 0,
            "seed": 1,
            "logit_bias": self._bias,
        }
        async with aclosing(self.events("/v1/chat/completions", body)) as parts:
            async for part in parts:
                if reply.add(part):
                    yield reply

    async def events(self, path: str, body: dict[str, Any]) -> AsyncGenerator[dict[str, Any]]:
        """The server-sent events of a POST, each decoded, up to `[DONE]`."""
        rest = b""
        async with self._sent("POST", path, orjson.dumps(body)) as answer:
            async for chunk in answer:
                *lines, rest = (rest + chunk).split(b"\n")
                for line in lines:
                    if line.startswith(b"data: {"):
                        yield orjson.loads(line[6:])
                    elif line.startswith(b"data: [DONE]"):
                        return
        raise ServerFailed("The stream broke off.")

    async def json(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        """The JSON that a request gives."""
        async with self._sent(method, path, orjson.dumps(body) if body is not None else b"") as answer:
            return orjson.loads(b"".join([chunk async for chunk in answer]))

    @asynccontextmanager
    async def _sent(self, method: str, path: str, body: bytes) -> AsyncIterator[AsyncIterator[bytes]]:
        reader, writer = await asyncio.open_connection(self._host, self._port)
        head = [
            f"{method} {path} HTTP/1.1",
            f"Host: {self._host}:{self._port}",
            f"Authorization: Bearer {self._key}",
            "Content-Type: application/json",
            f"Content-Length: {len(body)}",
            "Connection: close",
        ]
        try:
            writer.write("\r\n".join([*head, "\r\n"]).encode() + body)
            yield (await _Answer(reader).begun()).chunks()
        finally:
            writer.close()


class _Answer:
    """The body of an answer, chunk by chunk."""

    def __init__(self, reader: asyncio.StreamReader) -> None:
        self._reader = reader
        self._is_chunked = False

    async def begun(self) -> Self:
        """Read the head. Raises ServerFailed unless all is well."""
        status = await self._line()
        while header := await self._line():
            self._is_chunked |= header.lower().replace(b" ", b"") == b"transfer-encoding:chunked"
        if status.split(b" ")[1:2] not in ([b"200"], [b"201"], [b"204"]):
            text = b"".join([chunk async for chunk in self.chunks()])
            raise ServerFailed(f"{status.decode()}: {text.decode(errors='replace')[:300]}")
        return self

    def chunks(self) -> AsyncIterator[bytes]:
        """What comes, as it comes."""
        return self._in_chunks() if self._is_chunked else self._until_closed()

    async def _in_chunks(self) -> AsyncIterator[bytes]:
        while size := int(await self._line(), 16):
            yield await self._reader.readexactly(size)
            await self._line()

    async def _until_closed(self) -> AsyncIterator[bytes]:
        while chunk := await self._reader.read(65536):
            yield chunk

    async def _line(self) -> bytes:
        line = await self._reader.readline()
        if not line.endswith(b"\n"):
            raise ServerFailed("The server hung up.")
        return line.rstrip(b"\r\n")
