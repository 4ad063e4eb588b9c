"""A socket lives no longer than its session: logout, another password and deactivation close it at once with 4401."""

import asyncio

import pytest
from asgiref.sync import sync_to_async
from django.contrib.sessions.models import Session
from django.test import AsyncClient
from django.urls import reverse

from accounts.models import User
from chat import consumers

pytestmark = pytest.mark.django_db(transaction=True)


async def test_logout_closes_the_sockets_of_that_session_alone(open_tab, alice, as_alice):
    elsewhere = AsyncClient()
    await elsewhere.aforce_login(alice)
    here, there = await open_tab(as_alice), await open_tab(elsewhere)
    await sync_to_async(as_alice.logout)()
    assert await here.closed() == 4401
    await there.send_json_to({"type": "ping"})
    assert (await there.next())["type"] == "pong"


async def test_logging_out_over_the_page_closes_the_socket(open_tab, as_alice):
    tab = await open_tab()
    await as_alice.post(reverse("logout"))
    assert await tab.closed() == 4401


async def test_another_password_closes_all_sockets(open_tab, alice):
    tabs = [await open_tab(), await open_tab()]
    alice.set_password("another horse battery")
    await alice.asave()
    assert [await tab.closed() for tab in tabs] == [4401, 4401]


async def test_deactivation_closes_the_socket_and_no_more_text_goes_out(open_tab, alice, model):
    model.script = ("so far", more := asyncio.Event(), "secret")
    tab = await open_tab()
    await tab.say()
    await tab.get("reply.delta")
    alice.is_active = False
    await alice.asave()
    assert await tab.closed() == 4401
    more.set()
    assert await tab.receive_nothing()


async def test_a_change_that_has_nothing_to_do_with_it_closes_nothing(open_tab, alice):
    tab = await open_tab()
    alice.first_name = "Alice"
    await alice.asave()
    await tab.send_json_to({"type": "ping"})
    assert (await tab.next())["type"] == "pong"


async def test_what_no_signal_tells_is_found_at_the_next_frame(open_tab, alice):
    tab = await open_tab()
    await User.objects.filter(pk=alice.pk).aupdate(is_active=False)
    await tab.send_json_to({"type": "ping"})
    assert await tab.closed() == 4401


async def test_what_no_signal_tells_is_found_by_the_regular_look(open_tab, monkeypatch):
    monkeypatch.setattr(consumers, "LOOK_EVERY", 0.01)
    tab = await open_tab()
    await Session.objects.all().adelete()
    assert await tab.closed() == 4401


async def test_after_the_end_no_frame_is_handled(open_tab, alice, model):
    tab = await open_tab()
    await User.objects.filter(pk=alice.pk).aupdate(is_active=False)
    await tab.send_json_to({"type": "ping"})
    await tab.closed()
    await tab.say("after the end")
    assert await tab.receive_nothing()
    assert model.asked == []
