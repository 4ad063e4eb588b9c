"""The plain interface: a reply for a list of messages, and a health check that never waits."""

import asyncio
import threading

import pytest

from chat import runtime

from .test_chat_completions import parts_of

ASK = {"messages": [{"role": "user", "content": "Hello"}], "max_new_tokens": 64, "temperature": 0}


async def test_a_reply_comes_with_model_and_size(serve, program):
    serve()
    answer = await program.post("/chat", ASK)
    assert answer.status_code == 200
    assert answer.body == {
        "content": "You said: Hello",
        "model": "Scripted",
        "prompt_tokens": 9,
        "completion_tokens": 5,
        "finish_reason": "stop",
    }


async def test_a_stream_is_pieces_of_content(serve, program):
    serve()
    parts = await parts_of(await program.post("/chat", ASK | {"stream": True}))
    assert all(list(part) == ["content"] for part in parts)
    assert "".join(part["content"] for part in parts) == "You said: Hello"


async def test_it_ends_after_so_many_tokens(serve, program):
    serve()
    answer = await program.post("/chat", ASK | {"max_new_tokens": 2})
    assert (answer.body["completion_tokens"], answer.body["finish_reason"]) == (2, "length")


@pytest.mark.parametrize(
    "fields",
    [
        {"messages": []},
        {"messages": [{"role": "tool", "content": "x"}]},
        {"messages": [{"role": "user", "content": " \u200b"}]},
        {"messages": [{"role": "user"}]},
        {"messages": "Hello"},
        {"max_new_tokens": 0},
        {"max_new_tokens": 2049},
        {"temperature": 2.1},
        {"temperature": -1},
        {"stream": "yes"},
    ],
)
async def test_what_is_out_of_bounds_is_refused_with_a_reason(serve, program, fields):
    serve()
    answer = await program.post("/chat", ASK | fields)
    assert answer.status_code == 400
    assert answer.body["error"]["param"].startswith(next(iter(fields)))


async def test_health_answers_while_a_long_reply_runs(serve, program):
    steps = threading.Semaphore(0)
    runner = serve(steps=steps)
    asked = asyncio.create_task(program.post("/chat", ASK))
    while not runner.info or not runtime.chat_model().engine.stats().running:
        await asyncio.sleep(0)
    answer = await program.get("/health", headers={})
    assert (answer.status_code, answer.body) == (200, {"status": "ok", "model": "Scripted"})
    assert not asked.done()
    steps.release(100)
    assert (await asked).status_code == 200


async def test_health_without_a_model_says_so(program):
    answer = await program.get("/health", headers={})
    assert (answer.status_code, answer.body) == (503, {"status": "unavailable", "model": None})
