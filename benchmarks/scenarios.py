"""The work that both servers do: each scenario drives one server once and returns what it measured."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from itertools import pairwise
from random import Random
from statistics import median
from time import monotonic

from benchmarks.client import Client, Message, Reply, ServerFailed
from benchmarks.vocabulary import Vocabulary

Measured = dict[str, float]
# Pieces of a reply that are written before somebody else comes.
_UNDISTURBED = 16


@dataclass(frozen=True)
class Visit:
    """One turn of a scenario at one server; `rng` gives every server of this turn the same fresh words."""

    client: Client
    vocabulary: Vocabulary
    rng: Random

    def words(self, count: int) -> str:
        """A text of so many words, and tokens, that no server has seen."""
        return self.vocabulary.text(self.rng, count)


Scenario = Callable[[Visit], Awaitable[Measured]]


async def one_client(visit: Visit) -> Measured:
    """A fresh prompt of 200 tokens and 96 tokens of reply, three times."""
    replies = [await visit.client.chat([_user(visit.words(200))], 96) for _ in range(3)]
    return {
        "first": median(reply.first_token for reply in replies),
        "speed": median(reply.tokens_a_second for reply in replies),
    }


async def eight_at_once(visit: Visit) -> Measured:
    """Eight fresh prompts of 100 to 200 tokens at the same moment, 64 tokens of reply each."""
    prompts = [[_user(visit.words(visit.rng.randint(100, 200)))] for _ in range(8)]
    began = monotonic()
    replies = await asyncio.gather(*(visit.client.chat(prompt, 64) for prompt in prompts))
    seconds = max(reply.times[-1] for reply in replies) - began
    return {
        "speed": sum(reply.completion_tokens for reply in replies) / seconds,
        "first": median(reply.first_token for reply in replies),
    }


async def long_conversation(visit: Visit) -> Measured:
    """One conversation of 12 turns, 40 words and 24 tokens of reply each."""
    replies = await _conversation(visit.client, [visit.words(40) for _ in range(12)], 24)
    return {"first": median(reply.first_token for reply in replies[8:])}


async def side_by_side(visit: Visit) -> Measured:
    """Six conversations of four turns, each at its own pace."""
    said = [[visit.words(60) for _ in range(4)] for _ in range(6)]
    talks = await asyncio.gather(*(_conversation(visit.client, texts, 24) for texts in said))
    return {"first": median(reply.first_token for talk in talks for reply in talk[1:])}


async def thirty_in_turn(visit: Visit) -> Measured:
    """Thirty conversations, one after the other, twice around: more than there are slots."""
    talks: list[list[Message]] = [[_user(visit.words(150))] for _ in range(30)]
    for talk in talks:
        reply = await visit.client.chat(talk, 8)
        talk += [_assistant(reply.text), _user(visit.words(30))]
    return {"first": median([(await visit.client.chat(talk, 8)).first_token for talk in talks])}


async def long_prompt_beside(visit: Visit) -> Measured:
    """Somebody reads a reply while another's prompt of 3,000 tokens is read: the longest gap between its tokens."""
    written, prompts = Reply(), ([_user(visit.words(50))], [_user(visit.words(3000))])
    async with aclosing(visit.client.stream(prompts[0], 3000, written)) as pieces:
        async for _ in pieces:
            if len(written.times) == _UNDISTURBED:
                other = asyncio.create_task(visit.client.chat(prompts[1], 2))
            if len(written.times) > _UNDISTURBED and other.done():
                return {"gap": longest_gap(written.times[_UNDISTURBED - 1 :]), "first": (await other).first_token}
    raise ServerFailed("The reply ended before the long prompt beside it was read.")


def longest_gap(times: list[float]) -> float:
    """Seconds of the longest silence between two of these moments."""
    return max(later - earlier for earlier, later in pairwise(times))


async def _conversation(client: Client, said: list[str], max_tokens: int) -> list[Reply]:
    """The replies of a conversation in which a person says these things; it is sent whole each time."""
    messages: list[Message] = []
    replies = []
    for text in said:
        messages.append(_user(text))
        reply = await client.chat(messages, max_tokens)
        messages.append(_assistant(reply.text))
        replies.append(reply)
    return replies


def _user(text: str) -> Message:
    return {"role": "user", "content": text}


def _assistant(text: str) -> Message:
    return {"role": "assistant", "content": text}
