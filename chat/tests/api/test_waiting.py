"""Programs are told where they stand in the queue, and about how long it takes."""

import re

from chat import runtime
from chat.inference.estimate import Speeds
from chat.inference.testing import endless

CHAT = {"model": "default", "messages": [{"role": "user", "content": "Hello"}], "stream": True}


async def test_a_stream_that_waits_has_comments_with_place_and_seconds(serve, program):
    serve(endless, slots=1, step_seconds=0.001)
    running = await program.post("/v1/chat/completions", CHAT)
    begun = aiter(running.streaming_content)
    await anext(begun)
    waiting = await program.post("/v1/chat/completions", CHAT | {"max_tokens": 2})
    parts = aiter(waiting.streaming_content)
    assert re.fullmatch(rb": queued position=1 seconds=[1-9]\d*\n\n", await anext(parts))
    await begun.aclose()
    assert [part async for part in parts][-1] == b"data: [DONE]\n\n"


async def test_a_full_queue_says_in_retry_after_what_those_who_wait_are_told(serve, program, monkeypatch):
    monkeypatch.setattr(Speeds, "stepped", lambda *_: None)
    serve(endless, slots=1, step_seconds=0.001, config={"queue_limit_person": 1})
    begun = aiter((await program.post("/v1/chat/completions", CHAT)).streaming_content)
    await anext(begun)
    waiting = await program.post("/v1/chat/completions", CHAT)
    runtime.chat_model().engine._scheduler.speeds.reply_tokens = 1e6
    refused = await program.post("/v1/chat/completions", CHAT)
    assert refused.status_code == 429
    assert 40 <= int(refused["Retry-After"]) <= 60  # the cap on a reply, 1,024 tokens, at 20 a second
    await begun.aclose()
    await aiter(waiting.streaming_content).aclose()
