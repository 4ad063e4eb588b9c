"""A reply that is stopped says what it cost until then."""

import asyncio

import pytest

from chat.inference.testing import endless
from chat.models import Message
from chat.replies import running
from chat.services import close, writing
from chat.tests.api.talking import make


@pytest.fixture(autouse=True)
async def nothing_is_left_running():
    yield
    await close()


async def until(found):
    async with asyncio.timeout(10):
        while not (result := found()):
            await asyncio.sleep(0.005)
    return result


async def begun(program, where, is_so=lambda reply: reply.seq):
    """Post a message; the task that waits for the answer, and the reply once it is so."""
    posting = asyncio.ensure_future(program.post(f"{where}/messages", {"text": "Tell me a story."}))
    [reply] = await until(lambda: [reply for reply in running if str(reply.conversation) in where and is_so(reply)])
    return posting, reply.pk


async def stop(program, where, reply):
    answer = await program.post(f"{where}/replies/{reply}/stop", {})
    assert answer.body["status"] == "stopped"
    return answer.body


async def test_while_it_is_written_all_of_it_is_known(serve, program):
    serve(endless)
    where = await make(program)
    posting, reply = await begun(program, where, lambda reply: reply.seq > 2)
    stopped = await stop(program, where, reply)
    usage = stopped["usage"]
    assert usage["finish_reason"] == "cancelled"
    words = stopped["text"].count("word")
    assert 2 * words - 1 <= usage["completion_tokens"] <= 2 * words  # a blank is a token too, and the last one may wait
    assert usage["read_tokens"] == usage["prompt_tokens"] > 0
    assert usage["first_token_ms"] <= usage["total_ms"]
    assert usage["written_per_second"] > 0
    assert (await Message.objects.aget(pk=reply)).usage == usage == (await posting).body["reply"]["usage"]


async def test_while_it_waits_nothing_was_read_and_there_was_no_first_token(serve, program):
    serve(endless, slots=1)
    first, second = await make(program), await make(program)
    await begun(program, first)
    _, waiting = await begun(program, second, lambda reply: reply.position)
    usage = (await stop(program, second, waiting))["usage"]
    assert (usage["read_tokens"], usage["completion_tokens"], usage["first_token_ms"]) == (0, 0, None)
    assert usage["queued_ms"] == usage["total_ms"]


async def test_an_engine_that_does_not_answer_keeps_nobody_waiting(serve, program, monkeypatch):
    monkeypatch.setattr(writing, "LAST_WORDS", 0.05)
    serve(endless)
    where = await make(program)
    _, reply = await begun(program, where)
    [found] = [one for one in running if one.pk == reply]
    monkeypatch.setattr(found.on_stop.func.__self__, "_end_early", lambda: None)
    assert set((await stop(program, where, reply))["usage"]) == {"finish_reason", "total_ms"}
