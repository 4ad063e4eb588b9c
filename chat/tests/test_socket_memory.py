"""What is done to memory in one tab, or by a program, is told to every tab of the conversation."""

import asyncio
from uuid import uuid4

import pytest
from django.urls import reverse

from accounts.models import ApiKey
from chat import memory
from chat.models import Conversation, Message, Summary
from chat.tests.memory.fakes import converse, in_thread, loaded

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def model(monkeypatch):
    """A model that counts tokens and writes no summary that could be used."""
    return loaded(monkeypatch, context_tokens=640)


@pytest.fixture
def path(conversation, alice):
    """Two turns; the ids."""
    texts = ("My dog is called Rex. " * 5, "Nice.", "He is 5. " * 5, "A good age.")
    conversation.head = converse(alice, *texts, conversation=conversation)
    conversation.save()
    return conversation.path()


@pytest.fixture
def summary(conversation, path):
    return conversation.summaries.create(covers_until_id=path[1], text="The dog is called Rex.", author="model")


@pytest.fixture
def do(as_alice, conversation):
    """Does something as a page does; `tab` is its name."""

    async def do(name, *ids, tab="", **fields):
        address = reverse(name, args=[conversation.pk, *ids])
        return await as_alice.post(address, fields, headers={"HX-Request": "true", "X-Tab": tab})

    return do


async def test_a_pin_is_told_with_all_that_are_pinned_and_by_whom(open_tab, do, path):
    tabs, name = [await open_tab(), await open_tab()], str(uuid4())
    for message, pinned, all_pinned in (
        (path[0], "1", [path[0]]),
        (path[3], "1", [path[0], path[3]]),
        (path[0], "0", [path[3]]),
    ):
        await do("pin_message", message, tab=name, pinned=pinned)
        for tab in tabs:
            assert await tab.next() == {"type": "memory.changed", "pinned": all_pinned, "tab": name}
    assert (await open_tab()).hello["pinned"] == [path[3]]


@pytest.mark.parametrize("tab", ["", "nonsense", "x" * 5000])
async def test_a_name_that_is_none_is_left_out(open_tab, do, path, tab):
    page = await open_tab()
    await do("pin_message", path[0], pinned="1", tab=tab)
    assert (await page.next())["tab"] == ""


async def test_corrected_and_restored_summaries_are_told(open_tab, do, summary):
    tab = await open_tab()
    await do("edit_summary", summary.pk, text="The dog is called Max.")
    assert (await tab.next())["type"] == "memory.changed"
    await do("restore_summary", summary.pk)
    assert (await tab.next())["type"] == "memory.changed"
    assert await Summary.objects.filter(retired=True).acount() == 1


async def test_compacting_is_told_when_it_begins_and_when_it_is_done(open_tab, do, path, conversation):
    tab, name = await open_tab(), str(uuid4())
    await do("compact_memory", tab=name)
    assert (await tab.get("memory.changed"))["tab"] == name
    assert (await tab.get("memory.changed"))["tab"] == ""
    assert not memory.keeper.is_at_work(conversation.pk)
    assert await Summary.objects.acount() == 1


async def test_the_summary_that_is_written_after_forgetting_is_told(open_tab, do, path, summary, monkeypatch):
    done = asyncio.Event()

    async def after_reply(*_):
        done.set()

    monkeypatch.setattr(memory.keeper, "after_reply", after_reply)
    tab = await open_tab()
    await do("forget_message", path[0])
    assert (await tab.next())["messages"] == [path[0]]
    assert (await tab.get("memory.changed"))["pinned"] == []
    assert done.is_set()


async def test_what_a_program_does_is_told_too(open_tab, path, async_client, alice, conversation):
    _, key = await in_thread(ApiKey.issue)(alice, "test")
    tab = await open_tab()
    await async_client.patch(
        f"/v1/conversations/{conversation.pk}/messages/{path[0]}",
        {"pinned": True},
        content_type="application/json",
        headers={"Authorization": f"Bearer {key}"},
    )
    assert await tab.next() == {"type": "memory.changed", "pinned": [path[0]], "tab": ""}


async def test_who_comes_later_is_told_what_is_pinned_and_forgotten(open_tab, path):
    await Message.objects.filter(pk=path[0]).aupdate(pinned=True)
    await Message.objects.filter(pk=path[1]).aupdate(status="forgotten", text="")
    hello = (await open_tab()).hello
    assert (hello["pinned"], hello["forgotten"]) == ([path[0]], [path[1]])


async def test_nobody_else_is_told(open_tab, do, path, bob, as_bob):
    his = await in_thread(Conversation.begin)(bob)
    page = await open_tab(as_bob, his.pk)
    await do("pin_message", path[0], pinned="1")
    await page.send_json_to({"type": "ping"})
    assert (await page.next())["type"] == "pong"
