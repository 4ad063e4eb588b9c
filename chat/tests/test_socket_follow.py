"""A reply belongs to the server: reload, a second tab and a late comer see the same text, whole and once."""

import asyncio

import pytest

from chat.models import Message

pytestmark = pytest.mark.django_db(transaction=True)


def text_of(frames):
    return "".join(frame["text"] for frame in frames if frame["type"] == "reply.delta")


async def begun(tab):
    """A message is sent and the first part has come; returns the reply and that part."""
    await tab.say()
    delta = await tab.get("reply.delta")
    return delta["reply"], delta


async def test_reload_after_some_tokens_goes_on_from_there_and_ends_with_the_whole(open_tab, model):
    more, rest = asyncio.Event(), asyncio.Event()
    model.script = (*(f"{n} " for n in range(20)), more, "20 ", rest, *(f"{n} " for n in range(21, 200)))
    whole = "".join(f"{n} " for n in range(200))
    tab = await open_tab()
    await tab.say()
    got = ""
    while len(got) < len("".join(f"{n} " for n in range(20))):
        delta = await tab.get("reply.delta")
        got += delta["text"]
    await tab.disconnect()
    again = await open_tab()
    assert again.hello["unfinished"] == [delta["reply"]]
    await again.send_json_to({"type": "reply.follow", "reply": delta["reply"], "after": delta["seq"]})
    more.set()
    # It is followed now: what ends before somebody follows it comes with its end alone.
    frames = await again.until("reply.delta")
    rest.set()
    frames += await again.until("reply.done")
    assert got + text_of(frames) == whole == frames[-1]["message"]["text"]
    third = await open_tab()
    assert third.hello["unfinished"] == []


async def test_a_page_that_knows_nothing_asks_from_the_beginning(open_tab, model):
    model.script = ("so far ", more := asyncio.Event(), "and on")
    reply, _ = await begun(await open_tab())
    late = await open_tab()
    await late.send_json_to({"type": "reply.follow", "reply": reply, "after": 0})
    assert (await late.next())["text"] == "so far "
    more.set()
    assert text_of(await late.until("reply.done")) == "and on"


async def test_the_reply_goes_on_when_every_page_is_closed(open_tab, model):
    model.script = ("so far", more := asyncio.Event(), " and on")
    tab = await open_tab()
    reply, _ = await begun(tab)
    await tab.disconnect()
    more.set()
    late = await open_tab()
    await late.send_json_to({"type": "reply.follow", "reply": reply, "after": 0})
    assert (await late.get("reply.done"))["message"]["text"] == "so far and on"


async def test_both_tabs_see_a_message_and_its_reply(open_tab, model):
    model.script = ("Hello ", more := asyncio.Event(), "there.")
    one, other = await open_tab(), await open_tab()
    client_id = await one.say("hi")
    seen = [await tab.until("reply.delta") for tab in (one, other)]
    more.set()
    ends = []
    for tab, begun_with in zip((one, other), seen, strict=True):
        frames = begun_with + await tab.until("reply.done")
        assert [frame["message"]["client_id"] for frame in frames if frame["type"] == "message.created"] == [client_id]
        assert [frame["type"] for frame in frames].count("reply.started") == 1
        assert text_of(frames) == "Hello there."
        ends.append(frames[-1])
    assert ends[0] == ends[1]


async def test_two_tabs_that_send_at_once_are_both_answered_and_agree(open_tab):
    one, other = await open_tab(), await open_tab()
    await one.say("from one")
    await other.say("from other")
    heads = []
    for tab in (one, other):
        done = [await tab.get("reply.done"), await tab.get("reply.done")]
        heads.append({frame["message"]["id"] for frame in done})
    assert heads[0] == heads[1]
    assert await Message.objects.filter(status="complete", role="assistant").acount() == 2


async def test_asking_for_what_comes_anyway_brings_nothing_twice(open_tab, model):
    model.script = ("so far ", more := asyncio.Event(), "and on")
    tab = await open_tab()
    reply, first = await begun(tab)
    for after in (0, first["seq"]):
        await tab.send_json_to({"type": "reply.follow", "reply": reply, "after": after})
    await tab.send_json_to({"type": "ping"})
    assert await tab.next() == {"type": "pong"}
    more.set()
    assert text_of(await tab.until("reply.done")) == "and on"


async def test_following_what_has_ended_gives_its_end(open_tab, model):
    model.script = ("*done*",)
    reply = await (await open_tab()).ask()
    late = await open_tab()
    await late.send_json_to({"type": "reply.follow", "reply": reply["id"], "after": 3})
    done = await late.next()
    assert (done["type"], done["message"]["html"].strip()) == ("reply.done", "<p><em>done</em></p>")


async def test_a_place_in_the_queue_is_shown_to_who_comes_later(open_tab, model):
    model.script = (3, asyncio.Event())
    tab = await open_tab()
    await tab.say()
    reply = (await tab.get("reply.queued"))["reply"]
    late = await open_tab()
    await late.send_json_to({"type": "reply.follow", "reply": reply, "after": 0})
    assert (await late.get("reply.queued"))["position"] == 3
