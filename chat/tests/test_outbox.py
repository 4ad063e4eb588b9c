"""A socket's frames leave in order; a client that does not read is given up, and costs little until then."""

import asyncio
import json
from functools import partial
from types import SimpleNamespace

import pytest

from chat import outbox
from chat.outbox import Outbox, unsent_bytes


class Wire:
    """What was sent, and how many bytes the client has not read."""

    def __init__(self):
        self.sent, self.unsent, self.arrived = [], 0, asyncio.Event()
        self.given_up = asyncio.Event()
        self.outbox = Outbox(self.send, lambda: self.unsent, self.give_up)

    async def send(self, text):
        self.sent.append(json.loads(text)["n"])
        self.arrived.set()

    async def give_up(self):
        self.given_up.set()


@pytest.fixture
async def wire():
    made = Wire()
    task = asyncio.ensure_future(made.outbox.run())
    yield made
    task.cancel()
    await asyncio.wait({task})


async def test_frames_leave_in_their_order(wire):
    wire.outbox.push({"n": 1})
    wire.outbox.push({"n": 2})
    await wire.outbox.deliver({"n": 3})
    assert wire.sent == [1, 2, 3]


async def test_who_makes_frames_from_something_that_grows_waits_while_the_client_does_not_read(wire):
    wire.unsent = outbox.MOST_BYTES + 1
    waiting = asyncio.ensure_future(wire.outbox.deliver({"n": 1}))
    await wire.arrived.wait()
    for _ in range(5):
        await asyncio.sleep(0)
    assert not waiting.done()
    wire.unsent = 0
    await waiting


async def test_a_client_that_goes_on_not_reading_is_given_up(wire, monkeypatch):
    monkeypatch.setattr(outbox, "PATIENCE", 0.0)
    wire.unsent = outbox.MOST_BYTES + 1
    wire.outbox.push({"n": 1})
    await wire.given_up.wait()


async def test_a_client_for_whom_too_many_frames_wait_is_given_up(wire):
    for number in range(outbox.MOST_FRAMES + 1):
        wire.outbox.push({"n": number})
    await wire.given_up.wait()
    assert len(wire.sent) <= outbox.MOST_FRAMES


def test_what_daphne_holds_is_seen_through_its_send_and_elsewhere_nothing():
    transport = SimpleNamespace(dataBuffer=b"12345", offset=2, _tempDataLen=10)
    assert unsent_bytes(partial(print, SimpleNamespace(transport=transport))) == 13
    assert unsent_bytes(partial(print, SimpleNamespace(transport=None))) == 0
    assert unsent_bytes(print) == 0
