"""One conversation that outgrows the context: ours remembers it, for the peer the client resends what fits."""

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from functools import partial
from random import Random
from statistics import median

from benchmarks.client import Client, Message, Reply, ServerFailed
from benchmarks.comparing import OURS, PEER, Files
from benchmarks.servers import Home, Setup, ours, peer
from benchmarks.vocabulary import Vocabulary

CONTEXT = 2048
_REPLY_TOKENS = 24
_WORDS = 24
# What a message has beside its words: the template's tokens, and words that are two tokens after all.
_MORE_A_MESSAGE = 8
# Seconds for which a person reads a reply before he asks again. Ours uses them; the peer has nothing to do in them.
_PAUSE = 0.5
_TELL_EVERY = 20  # turns

Turn = Callable[[str], Awaitable[float]]


def remember(files: Files, home: Home, threads: int, turns: int, say: Callable[[str], None]) -> dict[str, list[float]]:
    """Seconds to the first token of each turn, of both."""
    vocabulary = Vocabulary.of(files.model)
    rng = Random(secrets.token_hex(8))  # noqa: S311 (words, no secrets)
    said = [vocabulary.text(rng, _WORDS) for _ in range(turns)]
    setup = Setup(4, CONTEXT, threads)
    variables = {"LLM_MAX_REPLY_TOKENS": str(_REPLY_TOKENS), "LLM_TEMPERATURE": "0"}
    measured = {}
    with ours(home, files.model, setup, variables) as server:
        client = Client(server.url, server.key)
        measured[OURS] = asyncio.run(_talk(_Remembered(client).turn, said, _PAUSE, partial(_tell, say, OURS)))
    with peer(home, files.model, setup) as server:
        client = Client(server.url, bias=vocabulary.no_end)
        measured[PEER] = asyncio.run(_talk(_Resent(client).turn, said, 0, partial(_tell, say, PEER)))
    return measured


def _tell(say: Callable[[str], None], name: str, seconds: list[float], of: int) -> None:
    say(f"{name}: turn {len(seconds)} of {of}, first token after {median(seconds):.2f} s (median)")


async def _talk(turn: Turn, said: list[str], pause: float, tell: Callable[[list[float], int], None]) -> list[float]:
    seconds: list[float] = []
    for text in said:
        seconds.append(await turn(text))
        if len(seconds) % _TELL_EVERY == 0 or len(seconds) == len(said):
            tell(seconds, len(said))
        await asyncio.sleep(pause)
    return seconds


class _Remembered:
    """A conversation of ours: only what is new is sent."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._path = ""

    async def turn(self, text: str) -> float:
        if not self._path:
            made = await self._client.json("POST", "/v1/conversations", {})
            self._path = f"/v1/conversations/{made['id']}/messages"
        reply, status = Reply(), ""
        async with aclosing(self._client.events(self._path, {"text": text, "stream": True})) as events:
            async for event in events:
                if event["type"] == "reply.delta":
                    reply.grow(event["text"])
                elif event["type"] == "reply.done":
                    status = event["message"]["status"]
        if status != "complete" or not reply.times:
            raise ServerFailed(f"A reply ended as {status!r} with {len(reply.times)} pieces of text.")
        return reply.first_token


class _Resent:
    """The same at a server without memory: the client sends what fits.

    When it gets too long, the older half is dropped at once, so that the server's prompt cache serves many turns.
    """

    def __init__(self, client: Client, context: int = CONTEXT) -> None:
        self._client, self._context = client, context
        self._messages: list[Message] = []
        self._sizes: list[int] = []

    async def turn(self, text: str) -> float:
        self._add("user", text, len(text.split()))
        if sum(self._sizes) + _REPLY_TOKENS > self._context:
            half = len(self._messages) // 4 * 2  # whole exchanges
            del self._messages[:half], self._sizes[:half]
        reply = await self._client.chat(self._messages, _REPLY_TOKENS)
        self._add("assistant", reply.text, _REPLY_TOKENS)
        return reply.first_token

    def _add(self, role: str, text: str, tokens: int) -> None:
        self._messages.append({"role": role, "content": text})
        self._sizes.append(tokens + _MORE_A_MESSAGE)


def blocks(seconds: dict[str, list[float]], size: int) -> list[list[str]]:
    """Rows for people: of every `size` turns the median and the longest time, of both."""
    rows = [["turns", "peer: median", "longest", "ours: median", "longest", "ratio of medians"]]
    for start in range(0, len(seconds[PEER]), size):
        other, own = (seconds[name][start : start + size] for name in (PEER, OURS))
        shown = [f"{value:.2f} s" for value in (median(other), max(other), median(own), max(own))]
        rows.append([f"{start + 1} to {start + len(own)}", *shown, f"{median(own) / median(other):.2f}"])
    return rows
