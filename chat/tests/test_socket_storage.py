"""While a reply is written the database may fail, the conversation go, the server stop: nothing hangs or is lost."""

import asyncio

import pytest
from django.db import OperationalError

from chat.models import Message
from chat.replies import running
from chat.services import writing

pytestmark = pytest.mark.django_db(transaction=True)


class Broken:
    """Stands for a method of Message that the database refuses a number of times; `tried` is set after each try."""

    def __init__(self, name, times):
        self.real, self.times, self.tried = getattr(Message, name), times, asyncio.Event()
        self.loop = asyncio.get_running_loop()

    def __get__(self, message, _):
        def method(*args, **kwargs):
            self.loop.call_soon_threadsafe(self.tried.set)
            if self.times:
                self.times -= 1
                raise OperationalError("database or disk is full")
            return self.real(message, *args, **kwargs)

        return method


async def test_the_text_is_saved_while_it_grows(open_tab, model, monkeypatch):
    monkeypatch.setattr(writing, "SAVE_EVERY", 0)
    saved = []
    real, changed = Message.save_progress, asyncio.Event()
    loop = asyncio.get_running_loop()

    def save_progress(self, text, reasoning, **sent):
        kept = real(self, text, reasoning, **sent)
        saved.append(Message.objects.get(pk=self.pk))
        loop.call_soon_threadsafe(changed.set)
        return kept

    monkeypatch.setattr(Message, "save_progress", save_progress)
    model.script = ("so far", more := asyncio.Event(), " and on")
    tab = await open_tab()
    await tab.say()
    await changed.wait()
    assert (saved[0].text, saved[0].status) == ("so far", "streaming")
    more.set()
    assert (await tab.get("reply.done"))["message"]["text"] == "so far and on"


async def test_a_reply_streams_on_while_it_cannot_be_saved(open_tab, model, monkeypatch):
    monkeypatch.setattr(Message, "save_progress", broken := Broken("save_progress", times=99))
    model.script = ("so far", more := asyncio.Event(), " and on")
    tab = await open_tab()
    await tab.say()
    await broken.tried.wait()
    more.set()
    reply = (await tab.get("reply.done"))["message"]
    assert (await Message.objects.aget(pk=reply["id"])).text == "so far and on"


async def test_an_end_that_cannot_be_saved_is_told_and_saved_later(open_tab, monkeypatch):
    monkeypatch.setattr(writing, "TRY_AGAIN", (0.001,))
    monkeypatch.setattr(Message, "finish", broken := Broken("finish", times=3))
    tab = await open_tab()
    reply = await tab.ask()
    assert reply["status"] == "complete"
    while writing._writing:
        await asyncio.wait(writing._writing)
    assert not broken.times
    row = await Message.objects.aget(pk=reply["id"])
    assert (row.status, row.text) == ("complete", "Hello there.")


async def test_a_conversation_that_is_deleted_ends_its_reply(open_tab, model, conversation, monkeypatch):
    monkeypatch.setattr(writing, "SAVE_EVERY", 0)
    model.script = ("so far", more := asyncio.Event(), " and on", asyncio.Event())
    tab = await open_tab()
    await tab.say()
    await tab.get("reply.delta")
    await conversation.adelete()
    more.set()
    await asyncio.wait(writing._writing)
    assert model.ended == 1
    assert list(running) == []


async def test_the_end_of_the_server_interrupts_replies_with_their_text_kept(open_tab, model):
    model.script = ("so far", asyncio.Event())
    tab = await open_tab()
    await tab.say()
    await tab.get("reply.delta")
    await writing.close()
    done = (await tab.get("reply.done"))["message"]
    assert (done["status"], done["text"]) == ("interrupted", "so far")
    assert (await Message.objects.aget(pk=done["id"])).status == "interrupted"
    assert list(running) == []


async def test_a_failure_of_memory_after_the_reply_hurts_nobody(open_tab, monkeypatch, remembered):
    from chat import memory

    async def after_reply(*args):
        raise RuntimeError

    monkeypatch.setattr(memory, "after_reply", after_reply)
    tab = await open_tab()
    first = await tab.ask()
    assert (await tab.ask("next", parent=first["id"]))["status"] == "complete"


async def test_a_fault_of_rendering_costs_the_looks_and_not_the_reply(open_tab, model, monkeypatch):
    from chat import rendering

    def push(self, text):
        raise RecursionError

    monkeypatch.setattr(rendering.RenderedStream, "push", push)
    model.script = ("a < ", more := asyncio.Event(), "b")
    tab = await open_tab()
    await tab.say()
    assert (await tab.get("reply.delta"))["open"] == "<pre>a &lt; </pre>"
    more.set()
    assert (await tab.get("reply.delta"))["open"] == "<pre>a &lt; b</pre>"
    done = (await tab.get("reply.done"))["message"]
    assert (done["status"], done["html"]) == ("complete", "<pre>a &lt; b</pre>")
