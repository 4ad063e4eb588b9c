"""Killed in the middle of a reply, the server comes back with the message and the text up to the last second."""

import json
from uuid import uuid4

import pytest
from websockets.sync.client import connect

from .process import ServerProcess

pytestmark = pytest.mark.server

PREPARE = """
from django.test import Client
from accounts.models import User
from chat.models import Conversation
alice = User.objects.create_user("alice", password="correct horse battery")
client = Client()
client.force_login(alice)
print("prepared", client.cookies["sessionid"].value, Conversation.begin(alice).pk)
"""


@pytest.fixture
def site(data):
    """Starts the site on one data directory with a model that writes two words in a tenth of a second."""
    script = data / "script.json"
    script.write_text(json.dumps({"step_seconds": 0.05, "replies": [{"say": ["word "] * 400}]}))
    variables = {"LLM_SCRIPT": str(script), "LLM_AUTOSTART": "1"}
    return lambda: ServerProcess(data, **variables)


@pytest.fixture
def alice(site):
    """Her session's key and her conversation."""
    done = site().manage("shell", "-c", PREPARE)
    return next(line for line in done.stdout.splitlines() if line.startswith("prepared")).split()[1:]


def opened(server, alice):
    key, conversation = alice
    return connect(
        f"ws://{server.host}:{server.port}/ws/conversations/{conversation}/",
        origin=server.url,
        additional_headers={"Cookie": f"sessionid={key}"},
    )


def loaded(server, alice):
    server.wait_until_ready()
    return opened(server, alice)


def get(socket, kind):
    while (frame := json.loads(socket.recv(timeout=20)))["type"] != kind:
        assert frame["type"] != "error", frame
    return frame


def test_a_kill_in_the_middle_of_a_reply_loses_neither_message_nor_text(site, alice):
    with site() as server, loaded(server, alice) as socket:
        said = {"type": "message.send", "client_id": str(uuid4()), "parent": None, "text": "tell me"}
        socket.send(json.dumps(said))
        reply = get(socket, "reply.started")["message"]["id"]
        seen = ""
        while len(seen) < len("word " * 40):
            seen += get(socket, "reply.delta")["text"]
        server.child.kill()
        server.child.wait()
    with site() as server, opened(server, alice) as socket:
        assert get(socket, "hello")["unfinished"] == []
        socket.send(json.dumps({"type": "reply.follow", "reply": reply, "after": 0}))
        message = get(socket, "reply.done")["message"]
        assert message["status"] == "interrupted"
        # At 20 words a second a second's worth is 100 characters; the machine may be busy.
        assert len(message["text"]) > len(seen) - 250
        assert seen.startswith(message["text"][: len(seen)])
        socket.send(json.dumps(said))
        assert get(socket, "message.created")["message"]["text"] == "tell me"
