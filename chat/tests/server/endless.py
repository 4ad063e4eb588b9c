"""Runs our server around an application that sends as much as its outbox lets it, and says what was held at the end."""

import asyncio
import os
from functools import partial

import django

os.environ["DJANGO_SETTINGS_MODULE"] = "chatsite.settings"
django.setup()

from chat import outbox  # noqa: E402
from chatsite.server import ChatServer  # noqa: E402

outbox.PATIENCE = 0.5


async def application(scope, receive, send):
    await receive()
    await send({"type": "websocket.accept"})
    unsent, most = partial(outbox.unsent_bytes, send), 0

    async def give_up():
        print(f"given up with {max(most, unsent())} bytes held", flush=True)  # noqa: T201
        await send({"type": "websocket.close", "code": 4408})

    box = outbox.Outbox(lambda text: send({"type": "websocket.send", "text": text}), unsent, give_up)
    writing = asyncio.ensure_future(box.run())
    while not writing.done():
        sent = asyncio.ensure_future(box.deliver({"padding": "x" * 50_000}))
        await asyncio.wait({sent, writing}, return_when=asyncio.FIRST_COMPLETED)
        most = max(most, unsent())
    sent.cancel()


async def finish():
    """Nothing is left to do."""


def ready(port):
    print(f"Serving on http://127.0.0.1:{port}", flush=True)  # noqa: T201


ChatServer(load=lambda: application, ready=ready, finish=finish).run()
