"""A server that is told to end while it writes a reply keeps all that was written and tells the page."""

import contextlib
import json
import signal
import sqlite3
import uuid

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from .process import ServerProcess

pytestmark = pytest.mark.server

ALICE = """
from django.contrib.sessions.backends.db import SessionStore
from django.test import Client
from accounts.models import User
from chat.models import Conversation
alice = User.objects.create_user("alice", password="correct horse battery")
client = Client()
client.force_login(alice, backend="django.contrib.auth.backends.ModelBackend")
print("ready", client.cookies["sessionid"].value, Conversation.begin(alice).pk)
"""
WORDS = " ".join(f"word{number}" for number in range(2000))


@pytest.fixture
def server(data):
    """A site whose model writes fifty tokens a second for as long as anybody looks, and Alice in it."""
    script = data / "script.json"
    script.write_text(json.dumps({"step_seconds": 0.02, "replies": [{"say": WORDS}]}))
    server = ServerProcess(data, LLM_AUTOSTART="1", LLM_SCRIPT=str(script))
    _, server.session, server.conversation = server.manage("shell", "-c", ALICE).stdout.split()[-3:]
    with server:
        server.wait_until_ready()
        yield server


def _open(server):
    return connect(
        f"ws://127.0.0.1:{server.port}/ws/conversations/{server.conversation}/",
        additional_headers={"Cookie": f"sessionid={server.session}", "Origin": server.url},
    )


def _ask(socket):
    """Ask, and return what of the reply has come once there is some."""
    frame = {"type": "message.send", "client_id": str(uuid.uuid4()), "parent": None, "text": "Go on"}
    socket.send(json.dumps(frame))
    while (answer := json.loads(socket.recv(timeout=20)))["type"] != "reply.delta":
        assert answer["type"] != "error", answer
    return answer["text"]


def _stored(data):
    with sqlite3.connect(data / "chat.sqlite3") as database:
        return database.execute("SELECT role, status, text FROM chat_message ORDER BY id").fetchall()


def test_ctrl_c_keeps_it_to_the_last_word_and_tells_the_page(server, data):
    with _open(server) as socket:
        text = _ask(socket)
        server.child.send_signal(signal.SIGINT)
        frames = []
        with contextlib.suppress(ConnectionClosed):
            frames.extend(json.loads(frame) for frame in socket)
    assert server.child.wait(timeout=2) == 0
    assert socket.close_code == 4503
    text += "".join(frame["text"] for frame in frames if frame["type"] == "reply.delta")
    assert frames[-1]["type"] == "reply.done"
    assert frames[-1]["message"]["status"] == "interrupted"
    assert _stored(data) == [("user", "complete", "Go on"), ("assistant", "interrupted", text)]
