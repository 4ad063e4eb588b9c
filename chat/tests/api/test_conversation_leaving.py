"""A program that leaves stops its reply, unless it wanted it to go on; what was posted is never lost half-way."""

import asyncio
import json

import pytest
from asgiref.testing import ApplicationCommunicator
from django.core.asgi import get_asgi_application

from accounts.models import ApiKey
from chat.inference.testing import endless
from chat.models import Message
from chat.replies import running
from chat.services import close
from chat.services.posting import in_database as real_in_database
from chat.tests.api.talking import make


@pytest.fixture(autouse=True)
async def nothing_is_left_running():
    yield
    await close()


@pytest.fixture
async def connect(program, alice, settings):
    """Opens a connection of its own to post a message on, as a server would."""
    settings.ALLOWED_HOSTS = ["testserver"]
    where, (_, key) = await make(program), await asyncio.to_thread(ApiKey.issue, alice, "leaving")

    async def opened(**body):
        scope = {
            "type": "http",
            "method": "POST",
            "path": f"{where}/messages",
            "query_string": b"",
            "headers": [
                (b"host", b"testserver"),
                (b"authorization", f"Bearer {key}".encode()),
                (b"content-type", b"application/json"),
            ],
        }
        connection = ApplicationCommunicator(get_asgi_application(), scope)
        await connection.send_input({"type": "http.request", "body": json.dumps({"text": "Hello"} | body).encode()})
        return connection

    return opened


async def leave(connection):
    await connection.send_input({"type": "http.disconnect"})
    await connection.wait(timeout=10)


async def until(condition):
    async with asyncio.timeout(20):
        while not condition():
            await asyncio.sleep(0.001)


def is_written():
    return any(reply.seq for reply in running)


async def status():
    return (await Message.objects.aget(role="assistant")).status


@pytest.mark.parametrize("stream", [True, False])
async def test_leaving_stops_the_reply(serve, connect, stream):
    serve(endless, step_seconds=0.01)
    connection = await connect(stream=stream)
    await until(is_written)
    await leave(connection)
    await until(lambda: not list(running))
    assert await status() == "stopped"


@pytest.mark.parametrize("stream", [True, False])
async def test_a_reply_that_shall_go_on_does(serve, connect, stream):
    serve(endless, step_seconds=0.01)
    connection = await connect(stream=stream, cancel_on_disconnect=False)
    await until(is_written)
    await leave(connection)
    [reply] = running
    seen = reply.seq
    await until(lambda: reply.seq > seen)
    assert not reply.stopping


@pytest.mark.parametrize("stops", [True, False])
async def test_leaving_while_the_message_is_stored_leaves_no_reply_that_nobody_writes(
    serve, connect, monkeypatch, stops
):
    serve()
    storing, go = asyncio.Event(), asyncio.Event()

    async def slow(work, *args):
        done = await real_in_database(work, *args)
        if work.__name__ == "_register":
            storing.set()
            await go.wait()
        return done

    monkeypatch.setattr("chat.services.posting.in_database", slow)
    connection = await connect(cancel_on_disconnect=stops)
    async with asyncio.timeout(20):
        await storing.wait()
    await leave(connection)
    go.set()
    await until(lambda: not list(running))
    assert await status() == ("stopped" if stops else "complete")
