"""A hop to the database delays nobody else and goes to its end, whoever waits for it."""

import asyncio
import threading

import pytest
from django.db import connection

from chat.database import in_database

pytestmark = pytest.mark.django_db(transaction=True)


async def test_a_slow_query_of_one_person_does_not_delay_another(alice):
    done = threading.Event()
    slow = asyncio.ensure_future(in_database(done.wait))
    assert await in_database(type(alice).objects.count) == 1
    assert not slow.done()
    done.set()
    await slow


async def test_what_has_begun_goes_on_when_nobody_waits_any_more():
    loop, begun, go_on, ended = asyncio.get_running_loop(), asyncio.Event(), threading.Event(), asyncio.Event()

    def work():
        loop.call_soon_threadsafe(begun.set)
        go_on.wait()
        loop.call_soon_threadsafe(ended.set)

    waiting = asyncio.ensure_future(in_database(work))
    await begun.wait()
    waiting.cancel()
    go_on.set()
    await ended.wait()


@pytest.mark.sqlite  # to PostgreSQL there is a pool
async def test_a_connection_is_kept_for_the_next_hop():
    def of_this_thread():
        connection.ensure_connection()
        return threading.get_ident(), connection.connection

    seen = dict([await in_database(of_this_thread) for _ in range(3)])
    for thread, kept in [await in_database(of_this_thread) for _ in range(3)]:
        assert seen.get(thread, kept) is kept


async def test_what_it_raises_is_raised_here():
    with pytest.raises(ZeroDivisionError):
        await in_database(lambda: 1 / 0)
