"""A program gets replies in OpenAI's shape, whole and as streams."""

import json

ASK = {"model": "default", "messages": [{"role": "user", "content": "Hello"}]}


async def parts_of(answer):
    """The JSON of a stream's events, comments left out; the last must be [DONE]."""
    text = b"".join([part async for part in answer.streaming_content]).decode()
    lines = [line.removeprefix("data: ") for line in text.split("\n") if line.startswith("data: ")]
    assert lines.pop() == "[DONE]"
    return [json.loads(line) for line in lines]


async def test_a_reply_has_text_reason_and_usage(serve, program):
    serve()
    answer = await program.post("/v1/chat/completions", ASK)
    assert answer.status_code == 200, answer.content
    body = answer.body
    assert body["object"] == "chat.completion"
    assert body["choices"][0]["message"] == {"role": "assistant", "content": "You said: Hello"}
    assert body["choices"][0]["finish_reason"] == "stop"
    usage = body["usage"]
    assert usage["prompt_tokens"] + usage["completion_tokens"] == usage["total_tokens"]


async def test_a_stream_joined_is_the_whole_reply(serve, program):
    serve()
    options = {"stream": True, "stream_options": {"include_usage": True}}
    parts = await parts_of(await program.post("/v1/chat/completions", ASK | options))
    assert parts[0]["choices"][0]["delta"] == {"role": "assistant", "content": ""}
    deltas = [choice["delta"] for part in parts for choice in part["choices"]]
    assert "".join(delta.get("content", "") for delta in deltas) == "You said: Hello"
    assert parts[-2]["choices"][0]["finish_reason"] == "stop"
    assert parts[-1]["choices"] == []
    assert parts[-1]["usage"]["completion_tokens"] == 5
