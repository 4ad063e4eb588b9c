"""Runs our server around a tiny application: what it does with bodies, sockets and signals needs no site."""

import asyncio
import os

import django

os.environ["DJANGO_SETTINGS_MODULE"] = "chatsite.settings"
django.setup()

from chatsite.server import ChatServer  # noqa: E402


async def application(scope, receive, send):
    await {"http": http, "websocket": websocket}[scope["type"]](scope["path"], receive, send)


async def http(path, receive, send):
    size, more = 0, True
    while more:
        part = await receive()
        size, more = size + len(part["body"]), part["more_body"]
    if path == "/flood":
        await flood(receive, send)
        return
    await send({"type": "http.response.start", "status": 200, "headers": []})
    endless = path == "/endless"
    await send({"type": "http.response.body", "body": b"%d" % size, "more_body": endless})
    if path == "/told":
        print("answered", flush=True)  # noqa: T201
    if endless:
        await asyncio.Event().wait()


async def flood(receive, send):
    """Stream events for as long as somebody is there."""
    await send({"type": "http.response.start", "status": 200, "headers": [(b"X-Accel-Buffering", b"no")]})
    left, sent = asyncio.ensure_future(receive()), 0
    while not left.done():
        await send({"type": "http.response.body", "body": b":" * 65536, "more_body": True})
        sent += 65536
        await asyncio.sleep(0)
    print(f"left after {sent}", flush=True)  # noqa: T201


async def websocket(path, receive, send):
    await send({"type": "websocket.accept"})
    while (frame := await receive())["type"] != "websocket.disconnect" or path == "/deaf":
        if "text" in frame:
            await send({"type": "websocket.send", "text": str(len(frame["text"]))})


async def finish():
    print("finishing", flush=True)  # noqa: T201
    if "HANG" in os.environ:
        await asyncio.Event().wait()


def ready(port):
    print(f"Serving on http://127.0.0.1:{port}", flush=True)  # noqa: T201


ChatServer(load=lambda: application, ready=ready, finish=finish).run()
