"""What tests of conversations over HTTP do again and again."""

import json
from uuid import uuid4

CONVERSATIONS = "/v1/conversations"
NOWHERE = f"{CONVERSATIONS}/{uuid4()}"


async def make(program, title=None):
    """A new conversation; returns its address."""
    answer = await program.post(CONVERSATIONS, {} if title is None else {"title": title})
    assert answer.status_code == 201, answer.content
    return f"{CONVERSATIONS}/{answer.body['id']}"


async def say(program, where, text="Hello", **options):
    """Post a message and wait for its reply; returns the answer's body."""
    answer = await program.post(f"{where}/messages", {"text": text} | options)
    assert answer.status_code == 200, answer.content
    return answer.body


async def events_of(answer):
    """The events of a stream; it must end with [DONE]."""
    assert answer.streaming, answer.content
    text = b"".join([part async for part in answer.streaming_content]).decode()
    lines = [line.removeprefix("data: ") for line in text.split("\n") if line.startswith("data: ")]
    assert lines.pop() == "[DONE]"
    return [json.loads(line) for line in lines]


def error(answer):
    """The status and the code of a refusal."""
    return answer.status_code, answer.body["error"]["code"]
