"""A reply is a task of the server: sockets need not exist, and what happens at its edges leaves nothing behind."""

import asyncio
from uuid import uuid4

import pytest

from chat import memory, runtime, services
from chat.models import Message, RefusedPost
from chat.replies import Ended, running
from chat.services import writing

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
async def send(conversation, alice, model, remembered):
    """Posts in Alice's conversation, without any socket."""

    async def sent(text="hi", **options):
        return await services.send_message(
            conversation.pk, alice.pk, text=text, **({"client_id": uuid4(), "parent": None} | options)
        )

    yield sent
    await services.close()


async def ended(conversation, reply):
    async for event in services.follow_reply(conversation.pk, reply):
        last = event
    assert isinstance(last, Ended)
    return last.message


async def test_a_reply_is_written_although_nobody_looks(send, conversation):
    sent = await send()
    assert (await ended(conversation, sent.reply["id"]))["text"] == "Hello there."
    await asyncio.wait(writing._writing or {asyncio.ensure_future(asyncio.sleep(0))})
    assert list(running) == []


async def test_the_same_message_twice_at_the_same_moment_is_one(send, model, conversation):
    client_id = uuid4()
    one, other = await asyncio.gather(send(client_id=client_id), send(client_id=client_id))
    assert (one.message, one.reply["id"]) == (other.message, other.reply["id"])
    await ended(conversation, one.reply["id"])
    assert len(model.asked) == 1


async def test_what_was_sent_before_is_answered_although_there_is_no_model_now(send, conversation, alice, monkeypatch):
    client_id = uuid4()
    sent = await send(client_id=client_id)
    await ended(conversation, sent.reply["id"])
    again = {"reply": sent.reply["id"], "client_id": uuid4()}
    retried = await services.retry_reply(conversation.pk, alice.pk, **again)
    await ended(conversation, retried.reply["id"])

    def chat_model():
        raise runtime.ModelUnavailable("gone")

    monkeypatch.setattr(runtime, "chat_model", chat_model)
    assert (await send(client_id=client_id)).message == sent.message
    assert (await services.retry_reply(conversation.pk, alice.pk, **again)).reply["id"] == retried.reply["id"]
    with pytest.raises(RefusedPost, match="gone"):
        await send()


async def test_stop_while_the_prompt_is_made_ends_it_before_the_model_is_asked(send, conversation, model, monkeypatch):
    making = asyncio.Event()

    async def prompt_for(reply, model):
        making.set()
        await asyncio.Event().wait()

    monkeypatch.setattr(memory, "prompt_for", prompt_for)
    sent = await send()
    await making.wait()
    services.stop_reply(conversation.pk, sent.reply["id"])
    assert (await ended(conversation, sent.reply["id"]))["status"] == "stopped"
    assert model.asked == []


async def test_stop_at_once_is_not_lost(send, conversation, model):
    sent = await send()
    services.stop_reply(conversation.pk, sent.reply["id"])
    assert (await ended(conversation, sent.reply["id"]))["status"] in ("stopped", "complete")
    assert (await Message.objects.aget(pk=sent.reply["id"])).status in ("stopped", "complete")


async def test_a_failed_post_leaves_no_reply_registered(send, monkeypatch):
    real = services.posting.running.add

    def add(reply):
        real(reply)
        raise RuntimeError

    monkeypatch.setattr(services.posting.running, "add", add)
    with pytest.raises(RuntimeError):
        await send()
    assert list(running) == []
    assert await Message.objects.acount() == 0


async def test_an_end_by_the_time_cap_is_complete_and_an_end_by_the_engine_is_interrupted(send, conversation, model):
    for reason, status in (("time", "complete"), ("length", "complete"), ("cancelled", "interrupted")):
        model.finish_reason = reason
        sent = await send()
        message = await ended(conversation, sent.reply["id"])
        assert (message["status"], message["usage"]["finish_reason"]) == (status, reason)
