"""At a server without memory the client keeps a window that always fits and drops the older half at once."""

from benchmarks.client import Reply
from benchmarks.remembering import _Resent, blocks


class Echo:
    def __init__(self):
        self.asked = []

    async def chat(self, messages, max_tokens):
        self.asked.append([*messages])
        return Reply(asked=0.0, times=[1.0], text="said", completion_tokens=max_tokens)


async def test_what_is_sent_fits_and_alternates_and_ends_with_the_question():
    client = Echo()
    window = _Resent(client, context=400)
    for turn in range(40):
        assert await window.turn(f"question {turn}") == 1.0
    for turn, messages in enumerate(client.asked):
        assert messages[-1] == {"role": "user", "content": f"question {turn}"}
        assert [message["role"] for message in messages] == ["user", "assistant"] * (len(messages) // 2) + ["user"]
    assert max(len(messages) for messages in client.asked) < 20


async def test_between_two_cuts_the_beginning_stays_so_that_a_cache_can_serve_it():
    client = Echo()
    window = _Resent(client, context=400)
    for turn in range(40):
        await window.turn(f"question {turn}")
    beginnings = [messages[0]["content"] for messages in client.asked]
    assert len(set(beginnings)) < 10


def test_blocks_have_the_median_and_the_longest_of_both():
    rows = blocks({"ours": [0.1, 0.2, 0.9, 0.5], "peer": [0.2, 0.4, 4.0, 1.0]}, 3)
    assert rows[1] == ["1 to 3", "0.40 s", "4.00 s", "0.20 s", "0.90 s", "0.50"]
    assert rows[2] == ["4 to 4", "1.00 s", "1.00 s", "0.50 s", "0.50 s", "0.50"]
