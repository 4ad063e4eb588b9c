"""What cannot be taken is refused with a code and words, leaves no row behind, and closes nothing."""

import asyncio
from uuid import uuid4

import pytest
from django.db import OperationalError

from chat import runtime
from chat.models import Conversation, Message

pytestmark = pytest.mark.django_db(transaction=True)


async def refused(tab, text, parent=None):
    client_id = await tab.say(text, parent)
    error = await tab.get("error")
    assert error["client_id"] == client_id
    assert await Message.objects.acount() == 0
    await tab.send_json_to({"type": "ping"})
    await tab.get("pong")
    return error


@pytest.mark.parametrize("text", ["", "   ", "\n\n", "\u200b", "\u0000", "\ud800", "\x1b"])
async def test_a_message_in_which_nothing_can_be_seen_is_refused(open_tab, text):
    assert (await refused(await open_tab(), text))["code"] == "empty_message"


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ("price $12\u0000-18", "price $12-18"),
        ("a\u0008b", "ab"),
        ("\x1b[31mred\x1b[0m", "[31mred[0m"),
        ("  if x:\r\n\tsnake_case *.py $a$\r\n\r\n", "  if x:\n\tsnake_case *.py $a$\n\n"),
    ],
)
async def test_control_characters_reach_neither_the_database_nor_the_model(open_tab, model, typed, kept):
    tab = await open_tab()
    await tab.say(typed)
    assert (await tab.get("message.created"))["message"]["text"] == kept
    await tab.get("reply.done")
    assert (await Message.objects.aget(role="user")).text == kept
    assert model.asked[0]["messages"][0].content == kept


async def test_a_message_over_the_limit_of_bytes_is_refused_with_both_numbers(open_tab, settings):
    settings.MESSAGE_MAX_BYTES = 1000
    error = await refused(await open_tab(), "ä" * 501)
    assert error["code"] == "message_too_long"
    assert "1,002" in error["text"]
    assert "1,000" in error["text"]


async def test_a_message_over_the_context_is_refused_with_both_numbers(open_tab, remembered):
    remembered.most_characters = 9
    error = await refused(await open_tab(), "0123456789")
    assert error["code"] == "message_too_long"
    assert "10" in error["text"]
    assert "9" in error["text"]


async def test_without_a_model_nothing_is_stored_and_the_reason_is_told(open_tab, monkeypatch):
    tab = await open_tab()

    def chat_model():
        raise runtime.ModelUnavailable("The file is cut short.")

    monkeypatch.setattr(runtime, "chat_model", chat_model)
    error = await refused(tab, "hi")
    assert (error["code"], error["text"]) == ("model_unavailable", "The file is cut short.")


async def test_a_database_that_does_not_take_it_is_told_and_nothing_is_stored(open_tab, monkeypatch, model):
    tab = await open_tab()

    def locked(*args, **kwargs):
        raise OperationalError("database is locked")

    with monkeypatch.context() as broken:
        broken.setattr(Conversation, "_await_reply", locked)
        assert (await refused(tab, "hi"))["code"] == "storage_unavailable"
    assert model.asked == []
    assert (await tab.ask("hi"))["status"] == "complete"


async def test_an_unknown_parent_is_refused(open_tab):
    assert (await refused(await open_tab(), "hi", parent=999))["code"] == "unknown_parent"


async def test_a_deleted_conversation_takes_nothing(open_tab, conversation):
    tab = await open_tab()
    await conversation.adelete()
    assert (await refused(tab, "hi"))["code"] == "conversation_gone"


async def test_a_full_queue_is_told_before_anything_is_stored(open_tab, model, settings):
    settings.LLM_QUEUE_LIMIT_PERSON = 1
    model.script = (7, asyncio.Event())
    tab = await open_tab()
    await tab.say("waits")
    await tab.get("reply.queued")
    await tab.say("too much")
    assert (await tab.get("error"))["code"] == "queue_full"
    assert await Message.objects.acount() == 2


@pytest.mark.parametrize(
    ("frame", "code"),
    [
        ("not json", "bad_frame"),
        ("[1]", "bad_frame"),
        ('{"type": "nonsense"}', "bad_frame"),
        ('{"type": "reply.stop", "reply": "1"}', "bad_frame"),
        ('{"type": "reply.stop", "reply": 99}', "unknown_reply"),
        ('{"type": "reply.follow", "reply": 99, "after": 0}', "unknown_reply"),
        (f'{{"type": "reply.retry", "reply": 99, "client_id": "{uuid4()}"}}', "unknown_reply"),
        ('{"type": "branch.show", "message": 99}', "unknown_message"),
    ],
)
async def test_a_frame_that_makes_no_sense_is_answered_and_the_socket_stays(open_tab, frame, code):
    tab = await open_tab()
    await tab.send_to(text_data=frame)
    assert (await tab.get("error"))["code"] == code
    await tab.send_json_to({"type": "ping"})
    await tab.get("pong")


async def test_a_binary_frame_is_answered_and_the_socket_stays(open_tab):
    tab = await open_tab()
    await tab.send_to(bytes_data=b"\x00\x01")
    assert (await tab.get("error"))["code"] == "bad_frame"
