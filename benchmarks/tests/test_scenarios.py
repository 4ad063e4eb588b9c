"""Scenarios send what they say they send, and measure what they say they measure."""

from itertools import count
from random import Random

import pytest

from benchmarks import scenarios
from benchmarks.client import Reply
from benchmarks.scenarios import Visit
from benchmarks.vocabulary import Vocabulary

VOCABULARY = Vocabulary([f"Ġword{chr(97 + one)}{chr(97 + two)}" for one in range(26) for two in range(26)], [1] * 676)


class Scripted:
    """A client whose n-th reply begins after n seconds and then takes a second a token."""

    def __init__(self):
        self.asked, self._number = [], count(1)

    async def chat(self, messages, max_tokens):
        number = next(self._number)
        self.asked.append([*messages])
        await scenarios.asyncio.sleep(0)  # so that others go on
        times = [float(number + token) for token in range(max_tokens)]
        return Reply(asked=0.0, times=times, text=f"reply {number}", completion_tokens=max_tokens)


@pytest.fixture
def client():
    return Scripted()


def visit(client):
    return Visit(client, VOCABULARY, Random(1))


async def test_one_client_asks_three_fresh_prompts_of_200_words(client):
    measured = await scenarios.one_client(visit(client))
    texts = [messages[0]["content"] for messages in client.asked]
    assert [len(text.split()) for text in texts] == [200, 200, 200]
    assert len(set(texts)) == 3
    assert measured == {"first": 2.0, "speed": 1.0}


async def test_eight_at_once_count_all_their_tokens(client, monkeypatch):
    monkeypatch.setattr(scenarios, "monotonic", lambda: 0.0)
    measured = await scenarios.eight_at_once(visit(client))
    assert len(client.asked) == 8
    assert measured == {"speed": 8 * 64 / (8 + 63), "first": 4.5}


async def test_a_conversation_is_sent_whole_and_its_last_four_turns_count(client):
    measured = await scenarios.long_conversation(visit(client))
    assert [len(messages) for messages in client.asked] == [2 * turn + 1 for turn in range(12)]
    assert client.asked[-1][:3] == [*client.asked[0], {"role": "assistant", "content": "reply 1"}, client.asked[1][2]]
    assert measured == {"first": 10.5}


async def test_side_by_side_leaves_the_first_turns_out(client):
    measured = await scenarios.side_by_side(visit(client))
    assert len(client.asked) == 24
    assert measured["first"] == 15.5  # of replies 7 to 24


async def test_thirty_in_turn_counts_the_second_round_alone(client):
    measured = await scenarios.thirty_in_turn(visit(client))
    assert [len(messages) for messages in client.asked] == [1] * 30 + [3] * 30
    assert measured == {"first": 45.5}


async def test_beside_a_long_prompt_only_the_time_of_its_reading_counts(client, monkeypatch):
    written = Reply(asked=0.0)
    monkeypatch.setattr(scenarios, "Reply", lambda: written)
    # Fast at first, with a long gap before anybody disturbs; then gaps of 3 and 7 seconds.
    moments = [*range(5), *range(105, 116), 118, 125]

    async def stream(messages, max_tokens, reply):
        for moment in [*moments, 126]:
            await scenarios.asyncio.sleep(0)
            reply.times.append(float(moment))
            yield reply

    async def chat(messages, max_tokens):
        while len(written.times) < len(moments):
            await scenarios.asyncio.sleep(0)
        return Reply(asked=0.0, times=[2.0])

    client.stream, client.chat = stream, chat
    assert await scenarios.long_prompt_beside(visit(client)) == {"gap": 7.0, "first": 2.0}
