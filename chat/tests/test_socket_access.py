"""Who may open a conversation's socket, and that nobody else learns whether the conversation exists."""

import asyncio
from uuid import uuid4

import pytest
from django.test import AsyncClient

from chat.models import Conversation, Message
from chat.tests.fakes import ORIGIN, Page

pytestmark = pytest.mark.django_db(transaction=True)

FRAMES = {
    "reply.stop": {"reply": "reply"},
    "reply.retry": {"reply": "reply", "client_id": str(uuid4())},
    "reply.follow": {"reply": "reply", "after": 0},
    "branch.show": {"message": "reply"},
    "message.send": {"parent": "reply", "client_id": str(uuid4()), "text": "mine now"},
}


@pytest.fixture(autouse=True)
def site(settings):
    settings.ALLOWED_HOSTS = ["testserver"]


async def test_a_stranger_is_refused(conversation):
    assert await Page(conversation.pk).is_refused()
    forged = AsyncClient()
    forged.cookies["sessionid"] = "x" * 32
    assert await Page(conversation.pk, forged).is_refused()


async def test_another_person_and_a_conversation_that_does_not_exist_look_alike(conversation, as_bob):
    foreign, missing = Page(conversation.pk, as_bob), Page(uuid4(), as_bob)
    assert await foreign.connect(timeout=10) == await missing.connect(timeout=10) == (False, 1000)


@pytest.mark.parametrize("origin", [None, "null", "http://evil.example", "http://sub.testserver", "https://testserver"])
async def test_a_page_of_another_origin_is_refused_even_with_the_cookie(conversation, as_alice, origin):
    assert await Page(conversation.pk, as_alice, origin=origin).is_refused()


async def test_the_owner_from_a_page_of_this_site_is_let_in(conversation, as_alice):
    page = Page(conversation.pk, as_alice, origin=ORIGIN)
    assert (await page.open())["conversation"] == str(conversation.pk)
    await page.disconnect()


async def test_a_deactivated_person_is_refused(conversation, alice, as_alice):
    alice.is_active = False
    await alice.asave()
    assert await Page(conversation.pk, as_alice).is_refused()


async def test_a_person_has_a_limited_number_of_sockets_and_gets_them_back(open_tab, settings, conversation, as_alice):
    settings.SOCKETS_PER_PERSON = 2
    first, _ = await open_tab(), await open_tab()
    assert await Page(conversation.pk, as_alice).is_refused()
    await first.disconnect()
    await open_tab()


@pytest.mark.parametrize("kind", FRAMES)
async def test_each_frame_about_a_foreign_reply_is_refused_like_one_about_none(open_tab, bob, as_bob, kind):
    theirs = await (await open_tab()).ask("secret")
    tab = await open_tab(as_bob, (await Conversation.objects.acreate(owner=bob)).pk)
    codes = set()
    for pk in (theirs["id"], theirs["id"] + 1000):
        frame = {name: pk if value == "reply" else value for name, value in FRAMES[kind].items()}
        await tab.send_json_to({"type": kind} | frame)
        error = await tab.get("error")
        codes.add((error["code"], error["text"]))
    assert len(codes) == 1
    assert await Message.objects.acount() == 2


async def test_stop_of_a_foreign_reply_stops_nothing(open_tab, bob, as_bob, model):
    model.script = ("so far", more := asyncio.Event(), "the rest")
    alices = await open_tab()
    await alices.say()
    reply = (await alices.get("reply.delta"))["reply"]
    tab = await open_tab(as_bob, (await Conversation.objects.acreate(owner=bob)).pk)
    assert await tab.refusal(type="reply.stop", reply=reply) == "unknown_reply"
    more.set()
    assert (await alices.get("reply.done"))["message"]["status"] == "complete"


async def test_a_frame_that_is_too_large_is_refused(open_tab, settings):
    settings.FRAME_MAX_BYTES = 1024
    tab = await open_tab()
    assert await tab.refusal(type="ping", padding="ä" * 600) == "frame_too_large"


async def test_too_many_frames_are_refused_and_far_too_many_close_the_socket(open_tab, settings):
    tab = await open_tab()
    await tab.disconnect()
    settings.FRAMES_PER_10_SECONDS = 2
    tab = await open_tab()
    for _ in range(3):
        await tab.send_json_to({"type": "ping"})
    assert (await tab.get("error"))["code"] == "too_many_frames"
    for _ in range(7):
        await tab.send_json_to({"type": "ping"})
    assert await tab.closed() == 4429
