"""Every reply to a program leaves one line of figures in the log, however it ends, and not a word of what it says."""

import asyncio
import logging

import pytest

from chat.inference.batch import StepFailed
from chatsite.logs import JsonFormatter

CANARY = "CANARY-7f3a"
BODY = {"model": "default", "messages": [{"role": "user", "content": f"my {CANARY}"}]}


def generations(caplog):
    return [dict(record.msg) for record in caplog.records if record.name == "chat.generation"]


async def read(answer, begun):
    async for _ in answer.streaming_content:
        begun.set()


@pytest.fixture(autouse=True)
def everything_is_logged(caplog):
    caplog.set_level(logging.DEBUG)


async def test_a_completion_leaves_one_line_with_its_usage(serve, program, alice, caplog):
    serve()
    answer = await program.post("/v1/chat/completions", BODY)
    [line] = generations(caplog)
    about = {"event": "generation", "source": "api", "owner": alice.pk, "model": "Scripted", "status": "complete"}
    assert line.items() >= about.items()
    assert line["request"] > 0
    assert line["prompt_tokens"] == answer.body["usage"]["prompt_tokens"]
    assert line["completion_tokens"] == answer.body["usage"]["completion_tokens"]
    assert line["finish_reason"] == "stop"


async def test_each_choice_leaves_one(serve, program, caplog):
    serve()
    await program.post("/v1/chat/completions", BODY | {"n": 3})
    assert len({line["request"] for line in generations(caplog)}) == 3


async def test_one_that_fails_leaves_one(serve, program, caplog):
    serve(lambda prompt: ["one", StepFailed("broken")])
    assert (await program.post("/v1/chat/completions", BODY)).status_code == 500
    [line] = generations(caplog)
    assert (line["status"], line["finish_reason"], line["completion_tokens"]) == ("failed", "error", 1)


async def test_one_whose_client_leaves_leaves_one(serve, program, caplog):
    def endless(prompt):
        while True:
            yield f"{CANARY} "

    serve(endless, step_seconds=0.01)
    answer = await program.post("/v1/chat/completions", BODY | {"stream": True})
    begun = asyncio.Event()
    reading = asyncio.create_task(read(answer, begun))
    await begun.wait()
    reading.cancel()
    async with asyncio.timeout(10):
        while not generations(caplog):
            await asyncio.sleep(0.001)
    [line] = generations(caplog)
    assert (line["status"], line["finish_reason"]) == ("stopped", "cancelled")


@pytest.mark.parametrize("script", [lambda prompt: [CANARY], lambda prompt: [CANARY, StepFailed("broken")]])
@pytest.mark.parametrize("path", ["/v1/chat/completions", "/chat"])
async def test_no_line_holds_a_word_of_it(serve, program, caplog, script, path):
    serve(script)
    body = BODY if path.startswith("/v1") else {"messages": BODY["messages"]}
    await program.post(path, body)
    await program.post(path, body | {"messages": [{"role": CANARY, "content": 1}]})  # what is refused is not quoted
    assert generations(caplog)
    lines = "\n".join(JsonFormatter().format(record) for record in caplog.records)
    assert CANARY not in lines + caplog.text
