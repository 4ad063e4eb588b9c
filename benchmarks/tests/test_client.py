"""The client reads streams however they are cut, and takes no reply for what it is not."""

import itertools

import pytest

from benchmarks.client import Client, Reply, ServerFailed
from benchmarks.tests.fake_server import served, stream

ASK = [{"role": "user", "content": "hello"}]


@pytest.mark.parametrize("size", [1, 7, 100_000])
async def test_a_reply_is_whole_however_the_stream_is_cut(size):
    body = stream("one", " two", " drei ü")
    pieces = [body[start : start + size] for start in range(0, len(body), size)]
    async with served(pieces) as server:
        reply = await Client(server.url).chat(ASK, 3)
    assert (reply.text, reply.prompt_tokens, reply.completion_tokens) == ("one two drei ü", 7, 3)
    assert len(reply.times) == 3
    assert reply.asked <= reply.times[0] <= reply.times[-1]


async def test_it_asks_for_the_same_of_every_server():
    async with served([stream("a")]) as server:
        await Client(server.url, key="secret", bias={"2": -100.0}).chat(ASK, 1)
    [body] = server.requests
    assert body["messages"] == ASK
    assert (body["temperature"], body["max_tokens"], body["logit_bias"]) == (0, 1, {"2": -100.0})
    assert "Authorization: Bearer secret\r\n" in server.heads[0]


async def test_a_reply_that_is_too_short_is_no_measurement():
    async with served([stream("a", "b")]) as server:
        with pytest.raises(ServerFailed, match="2 tokens came instead of 3"):
            await Client(server.url).chat(ASK, 3)


async def test_a_refusal_is_told_with_its_status_and_words():
    async with served([b'{"error": "no key"}'], status="401 Unauthorized") as server:
        with pytest.raises(ServerFailed, match=r"401 Unauthorized: .*no key"):
            await Client(server.url).chat(ASK, 1)


async def test_an_error_within_the_stream_and_a_broken_stream_are_failures():
    async with served([b'data: {"error": {"message": "engine failed"}}\n\n']) as server:
        with pytest.raises(ServerFailed, match="engine failed"):
            await Client(server.url).chat(ASK, 1)
    async with served([stream("a").removesuffix(b"data: [DONE]\n\n")]) as server:
        with pytest.raises(ServerFailed, match="broke off"):
            await Client(server.url).chat(ASK, 1)


def test_times_count_from_the_question_and_speed_from_the_first_token():
    reply = Reply(asked=10.0, times=[12.0, 12.5, 14.0], completion_tokens=5)
    assert reply.first_token == 2.0
    assert reply.tokens_a_second == 2.0  # four tokens came in the two seconds behind the first


def test_pieces_without_text_have_no_time(monkeypatch):
    monkeypatch.setattr("benchmarks.client.time.monotonic", itertools.count().__next__)
    reply = Reply()
    assert not reply.add({"choices": [{"delta": {"role": "assistant", "content": ""}}]})
    assert reply.add({"choices": [{"delta": {"content": "x"}}]})
    assert len(reply.times) == 1
