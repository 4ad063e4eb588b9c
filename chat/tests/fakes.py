"""A chat model that follows a script, and a client that talks over the socket like a page."""

import asyncio
import json
from uuid import uuid4

from channels.routing import URLRouter
from channels.testing import WebsocketCommunicator
from django.conf import settings
from langchain_core.messages import AIMessageChunk, HumanMessage

from chat.inference.request import SamplingParams
from chat.memory.prompt import Part, Prompt
from chat.routing import websocket_urlpatterns

ORIGIN = "http://testserver"
USAGE = {
    "prompt_tokens": 5,
    "cached_tokens": 0,
    "completion_tokens": 2,
    "reasoning_tokens": 0,
    "queued_ms": 0,
    "first_token_ms": 1,
    "total_ms": 2,
    "finish_reason": "stop",
}


class FakeChatModel:
    """Answers every prompt by the same script.

    Its steps: a str is new text, a Thought new reasoning, an int a place in the queue (ten seconds each), an exception
    is raised, an asyncio.Event is waited for.
    """

    model_name = "fake"
    fingerprint = "f" * 8
    context_tokens = 1024
    thinking = None
    sampling = SamplingParams()

    def __init__(self, *script):
        self.script = script or ("Hello ", "there.")
        self.finish_reason = "stop"
        self.asked = []  # What it was called with.
        self.ended = 0  # How many were answered to the end, or left.
        self.forgotten = []  # Conversations whose caches were dropped.

    def count(self, messages):
        return sum(len(message.text.split()) for message in messages)

    def forget(self, *conversations):
        self.forgotten += conversations

    async def astream(self, messages, **options):
        self.asked.append({"messages": messages} | options)
        try:
            for step in self.script:
                if isinstance(step, BaseException):
                    raise step
                if isinstance(step, asyncio.Event):
                    await step.wait()
                elif isinstance(step, int):
                    options["on_queued"](step, 10 * step)
                elif isinstance(step, Thought):
                    yield AIMessageChunk("", additional_kwargs={"reasoning_content": str(step)})
                else:
                    yield AIMessageChunk(step)
            usage = USAGE | {"finish_reason": self.finish_reason}
            metadata = {"finish_reason": self.finish_reason, "usage": usage, "token_ids": b"\1\0\0\0"}
            yield AIMessageChunk("", response_metadata=metadata)
        finally:
            self.ended += 1


class Thought(str):
    """A step of the script: reasoning."""


class FakeMemory:
    """Shows the model the last message alone, and remembers what it was told."""

    class MessageTooLong(Exception):
        def __init__(self, needed, available):
            super().__init__(f"This message needs {needed} tokens; {available} fit.")

    def __init__(self):
        self.most_characters = 1_000_000
        self.seen = []
        self.told = asyncio.Event()

    async def check_fits(self, conversation, parent, text, model):
        if len(text) > self.most_characters:
            raise self.MessageTooLong(len(text), self.most_characters)

    async def prompt_for(self, reply, model):
        return Prompt([HumanMessage(reply.parent.text)], 5, (Part("message", 5, (reply.parent_id,)),))

    async def after_reply(self, conversation_id, leaf_id, model):
        self.seen.append((conversation_id, leaf_id))
        self.told.set()


class Page(WebsocketCommunicator):
    """A tab: opens a conversation with somebody's cookie, sends frames, and waits for the ones that it wants."""

    def __init__(self, conversation, client=None, origin=ORIGIN, headers=()):
        headers = [(b"host", b"testserver"), *headers]
        if origin is not None:
            headers.append((b"origin", origin.encode()))
        if client is not None:
            cookie = client.cookies[settings.SESSION_COOKIE_NAME].value
            headers.append((b"cookie", f"{settings.SESSION_COOKIE_NAME}={cookie}".encode()))
        super().__init__(URLRouter(websocket_urlpatterns), f"/ws/conversations/{conversation}/", headers)

    async def open(self):
        """Connect; returns the hello."""
        assert await self.connect(timeout=10) == (True, None)
        return await self.next()

    async def is_refused(self):
        """True when the socket was closed before it was accepted."""
        accepted, _ = await self.connect(timeout=10)
        return not accepted

    async def next(self):
        """The next frame."""
        return await self.receive_json_from(timeout=10)

    async def until(self, kind):
        """The frames up to the first of this type, that one last."""
        frames = [await self.next()]
        while frames[-1]["type"] != kind:
            frames.append(await self.next())
        return frames

    async def get(self, kind):
        """The next frame of this type; what comes before is passed over."""
        return (await self.until(kind))[-1]

    async def say(self, text="hi", parent=None, client_id=None):
        """Send a message; returns its client_id."""
        client_id = str(client_id or uuid4())
        await self.send_json_to({"type": "message.send", "client_id": client_id, "parent": parent, "text": text})
        return client_id

    async def ask(self, text="hi", parent=None):
        """Send a message and wait until it is answered; returns the reply."""
        await self.say(text, parent)
        return (await self.get("reply.done"))["message"]

    async def refusal(self, **frame):
        """Send a frame; returns the code of the error that comes."""
        await self.send_json_to(frame)
        return (await self.get("error"))["code"]

    async def closed(self):
        """Wait until the server closes; returns the code."""
        while (message := await self.receive_output(timeout=10))["type"] != "websocket.close":
            assert json.loads(message["text"])
        return message["code"]
