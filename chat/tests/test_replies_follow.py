"""Any number of readers follow a reply from any point, without a gap and without a repetition."""

import asyncio
import random
from uuid import uuid4

import pytest

from chat.replies import Ended, Part, Queued, Reply


def a_reply():
    return Reply(1, conversation=uuid4(), owner=1)


async def read(reply, after=0):
    return [event async for event in reply.follow(after)]


async def test_what_waits_is_merged_into_one_part():
    reply = a_reply()
    reply.append("a", "x", "<p>a</p>", "<p>")
    reply.append("b", "y", "<p>b</p>", "</p>")
    reply.finish({"id": 1})
    assert await read(reply) == [Part(2, "ab", "xy", "<p>a</p><p>b</p>", "</p>"), Ended({"id": 1})]
    assert await read(reply, after=1) == [Part(2, "b", "y", "<p>b</p>", "</p>"), Ended({"id": 1})]
    assert await read(reply, after=2) == [Ended({"id": 1})]


async def test_a_number_beyond_the_end_is_the_end():
    reply = a_reply()
    reply.append("a", "", "", "")
    reader = reply.follow(after=99)
    ahead = asyncio.ensure_future(anext(reader))
    await asyncio.sleep(0)
    reply.append("b", "", "", "")
    assert (await ahead).text == "b"


async def test_a_reader_who_waits_is_told_at_once():
    reply = a_reply()
    reader = reply.follow()
    for letter in "abc":
        ahead = asyncio.ensure_future(anext(reader))
        await asyncio.sleep(0)
        reply.append(letter, "", "", "")
        assert (await ahead).text == letter


async def test_places_in_the_queue_are_told_until_the_first_part():
    reply = a_reply()
    reader = reply.follow()
    reply.wait_at(3, 30)
    assert await anext(reader) == Queued(3, 30)
    reply.wait_at(3, 25)
    assert await anext(reader) == Queued(3, 25)
    reply.wait_at(2, 20)
    reply.wait_at(1, 10)
    assert await anext(reader) == Queued(1, 10)
    reply.append("a", "", "", "")
    assert (await anext(reader)).seq == 1
    reply.finish({})
    assert await anext(reader) == Ended({})


@pytest.mark.parametrize("seed", range(20))
async def test_every_reader_gets_every_part_once_whatever_the_order(seed):
    chance = random.Random(seed)
    reply = a_reply()

    async def somebody():
        after = 0
        text = ""
        while True:
            # Reads a little, goes away, comes back and says where he was.
            async for event in reply.follow(after):
                if isinstance(event, Ended):
                    return text
                text, after = text + event.text, event.seq
                for _ in range(chance.randrange(4)):
                    await asyncio.sleep(0)
                if chance.random() < 0.2:
                    break

    readers = [asyncio.ensure_future(somebody()) for _ in range(5)]
    for number in range(200):
        reply.append(f"{number} ", "", "", "")
        if chance.random() < 0.5:
            await asyncio.sleep(0)
    reply.finish({})
    assert set(await asyncio.gather(*readers)) == {reply.text}


def test_a_reply_ends_once_and_takes_nothing_afterwards():
    reply = a_reply()
    reply.finish({})
    with pytest.raises(AssertionError):
        reply.finish({})
    with pytest.raises(AssertionError):
        reply.append("a", "", "", "")


def test_stop_is_asked_once_and_not_after_the_end():
    asked = []
    reply = a_reply()
    reply.on_stop = lambda: asked.append(1)
    reply.stop()
    reply.stop()
    assert asked == [1]
    ended = a_reply()
    ended.on_stop = lambda: asked.append(2)
    ended.finish({})
    ended.stop()
    assert asked == [1]
