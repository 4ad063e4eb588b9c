"""A message is stored, acknowledged, answered in parts and kept: the whole way over the socket."""

import asyncio
from uuid import uuid4

import pytest

from chat.models import Message

pytestmark = pytest.mark.django_db(transaction=True)


async def test_a_message_is_acknowledged_and_its_reply_streams_and_is_kept(open_tab, model, conversation):
    model.script = ("**Bold** ", "words.")
    tab = await open_tab()
    assert tab.hello == {
        "type": "hello", "conversation": str(conversation.pk), "title": "", "head": None, "unfinished": [],
        "pinned": [], "forgotten": [],
    }  # fmt: skip
    client_id = await tab.say("hello you")
    frames = await tab.until("reply.done")
    kinds = [frame["type"] for frame in frames if frame["type"] not in ("title.changed", "reply.delta")]
    assert kinds == ["message.created", "reply.started", "reply.done"]
    created, started, done = (frame["message"] for frame in frames if "message" in frame)
    assert (created["client_id"], created["text"], created["html"]) == (client_id, "hello you", "")
    assert (started["parent"], started["status"], started["text"]) == (created["id"], "queued", "")
    assert (done["status"], done["text"]) == ("complete", "**Bold** words.")
    assert done["html"].strip() == "<p><strong>Bold</strong> words.</p>"
    assert done["usage"]["prompt_tokens"] == 5

    row = await Message.objects.aget(pk=done["id"])
    assert (row.text, row.status, row.model, row.fingerprint) == ("**Bold** words.", "complete", "fake", "f" * 8)
    assert bytes(row.token_ids) == b"\1\0\0\0"
    assert row.finished_at is not None


async def test_the_parts_are_numbered_and_make_up_the_reply(open_tab, model):
    model.script = tuple("one two three")
    tab = await open_tab()
    await tab.say()
    deltas = [frame for frame in await tab.until("reply.done") if frame["type"] == "reply.delta"]
    assert "".join(delta["text"] for delta in deltas) == "one two three"
    assert [delta["seq"] for delta in deltas] == sorted({delta["seq"] for delta in deltas})
    html = "".join(delta["closed"] for delta in deltas) + deltas[-1]["open"]
    assert html.strip() == "<p>one two three</p>"


async def test_the_row_is_committed_before_the_message_is_acknowledged(open_tab, model):
    model.script = (asyncio.Event(),)
    tab = await open_tab()
    await tab.say("kept")
    created = (await tab.get("message.created"))["message"]
    started = (await tab.get("reply.started"))["message"]
    assert (await Message.objects.aget(pk=created["id"])).text == "kept"
    assert (await Message.objects.aget(pk=started["id"])).status == "queued"


async def test_the_first_message_gives_the_conversation_its_title(open_tab):
    tab = await open_tab()
    await tab.say("What is the capital of France?")
    assert (await tab.get("title.changed"))["title"] == "What is the capital of France?"
    reply = (await tab.get("reply.done"))["message"]
    await tab.say("And of Spain?", parent=reply["id"])
    assert "title.changed" not in [frame["type"] for frame in await tab.until("reply.done")]


async def test_the_model_is_asked_in_the_name_of_the_person_and_the_conversation(open_tab, model, alice, conversation):
    tab = await open_tab()
    await tab.ask("hi")
    (asked,) = model.asked
    assert (asked["owner"], asked["conversation"]) == (str(alice.pk), str(conversation.pk))
    assert [message.content for message in asked["messages"]] == ["hi"]


async def test_one_client_id_is_one_message_however_often_it_comes(open_tab, model):
    tab, other = await open_tab(), await open_tab()
    client_id = uuid4()
    for sender in (tab, other, tab):
        await sender.say("once", client_id=client_id)
    first = [(await sender.get("message.created"))["message"]["id"] for sender in (tab, other, tab)]
    assert len(set(first)) == 1
    await tab.get("reply.done")
    assert (await Message.objects.acount(), len(model.asked)) == (2, 1)


async def test_a_message_that_is_sent_again_after_a_reconnect_is_answered_with_what_there_is(open_tab):
    tab = await open_tab()
    client_id = await tab.say("once")
    await tab.get("reply.done")
    await tab.disconnect()
    again = await open_tab()
    await again.say("once", client_id=client_id)
    kinds = [frame["type"] for frame in await again.until("reply.done")]
    assert kinds == ["message.created", "reply.started", "reply.done"]
    assert await Message.objects.acount() == 2


async def test_twenty_at_once_are_all_answered(open_tab, model):
    tab = await open_tab()
    sent = {await tab.say(f"number {number}") for number in range(20)}
    created, done = set(), []
    while len(done) < 20:
        frame = await tab.next()
        if frame["type"] == "message.created":
            created.add(frame["message"]["client_id"])
        if frame["type"] == "reply.done":
            done.append(frame["message"]["status"])
    assert created == sent
    assert set(done) == {"complete"}
    order = [text async for text in Message.objects.filter(role="user").values_list("text", flat=True)]
    assert order == [f"number {number}" for number in range(20)]


async def test_memory_is_told_when_the_reply_is_stored(open_tab, remembered, conversation):
    tab = await open_tab()
    reply = await tab.ask()
    await remembered.told.wait()
    assert remembered.seen == [(conversation.pk, reply["id"])]
