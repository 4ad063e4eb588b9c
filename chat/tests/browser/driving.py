"""How tests use a page: as a person who reads and types, and as the server at the other end of its socket."""

import json
import re
import time
import uuid

from playwright.sync_api import expect

from chat.models import Conversation, Message

PASSWORD = "correct horse battery"
SECONDS = 10


def say(conversation, question, answer, status="complete", **fields):
    """A finished turn at the end of the conversation, in the database."""
    posted = conversation.post(parent=conversation.head_id, text=question, client_id=uuid.uuid4())
    posted.reply.finish(status, text=answer, **fields)
    return posted


def described(message, **changes):
    """The message as a frame shows it."""
    return {
        "id": message.pk,
        "parent": message.parent_id,
        "role": message.role,
        "status": message.status,
        "text": message.text,
        "reasoning": "",
        "html": "",
        "error": "",
        "client_id": str(message.client_id) if message.client_id else None,
        "model": "Scripted",
        "usage": {},
        "created_at": "2026-01-01T00:00:00Z",
    } | changes


class FakeSocket:
    """Takes the page's sockets, greets each, keeps what the page sends, and says what the test wants."""

    def __init__(self, page, conversation):
        self._page, self._conversation = page, conversation
        self._sockets = []
        self.sent = []
        page.route_web_socket(re.compile("/ws/"), self._open)

    def send(self, kind, **fields):
        """To the newest socket."""
        self._sockets[-1].send(json.dumps({"type": kind} | fields))

    def expect(self, kind, number=1):
        """The `number`th frame of this type that the page sends, from 1."""
        self._wait(lambda: len(self.all(kind)) >= number, f"frame {kind} number {number}")
        return self.all(kind)[number - 1]

    def all(self, kind):
        """The frames of this type so far."""
        return [frame for frame in self.sent if frame["type"] == kind]

    def drop(self, code=1001):
        """Close the connection, and wait for the page to come back."""
        count = len(self._sockets)
        self._sockets[-1].close(code=code)
        self._wait(lambda: len(self._sockets) > count, "the page to connect again")

    def wait_until_open(self):
        """Until the page has connected."""
        self._wait(lambda: self._sockets, "the page to connect")

    def close(self, code):
        """End the connection for good."""
        self._sockets[-1].close(code=code)

    def begin_reply(self, text="And a root?"):
        """Take the message that the page sent, in the database too; returns it and its empty reply."""
        frame = self.expect("message.send", len(self.all("message.send")) or 1)
        posted = self._conversation.post(parent=frame["parent"], text=text, client_id=uuid.UUID(frame["client_id"]))
        self.send("message.created", message=described(posted.message))
        self.send("reply.started", message=described(posted.reply))
        return posted.message, posted.reply

    def grow(self, reply, seq, text, closed="", **fields):
        """One part of a reply."""
        shown = {"text": text, "reasoning": "", "closed": closed, "open": f"<p>{text}</p>"} | fields
        self.send("reply.delta", reply=reply.pk, seq=seq, **shown)

    def _open(self, socket):
        shown = Conversation.objects.get(pk=socket.url.rstrip("/").rpartition("/")[2])
        hello = {"type": "hello", "conversation": str(shown.pk), "title": shown.title, "head": shown.head_id}
        kinds = {"unfinished": {"status__in": Message.UNFINISHED}, "pinned": {"pinned": True}}
        for name, which in (kinds | {"forgotten": {"status": Message.Status.FORGOTTEN}}).items():
            hello[name] = [*shown.messages.filter(**which).values_list("pk", flat=True)]
        socket.on_message(lambda data: self.sent.append(json.loads(data)))
        socket.send(json.dumps(hello))
        self._sockets.append(socket)

    def _wait(self, condition, what):
        deadline = time.monotonic() + SECONDS
        while not condition():
            if time.monotonic() > deadline:
                raise AssertionError(f"waited for {what}; the page sent {self.sent}")
            self._page.evaluate("new Promise(requestAnimationFrame)")  # lets what has arrived be heard


class Person:
    """Somebody at a page, who finds things by the names that a screen reader says."""

    def __init__(self, page, url=""):
        self.page, self.url = page, url
        self.box = page.get_by_role("textbox", name="Message", exact=True)
        self.send = page.get_by_role("button", name="Send")
        self.stop = page.get_by_role("button", name="Stop")
        self.log = page.get_by_role("log", name="Conversation")
        self.replies = self.log.locator("article[data-role=assistant]")
        self.questions = self.log.locator("article[data-role=user]")
        self.asked = self.questions.locator("[data-part=text]")  # the words alone

    def log_in(self, name="olivia"):
        """As the owner of the site."""
        self.page.goto(self.url)
        self.page.get_by_label("Username").fill(name)
        self.page.get_by_label("Password").fill(PASSWORD)
        self.page.get_by_role("button", name="Log in").click()
        expect(self.box).to_be_visible()
        return self

    def begin(self):
        """A new conversation."""
        self.page.get_by_role("button", name="New chat").click()
        expect(self.replies).to_have_count(0)
        return self

    def ask(self, text):
        """Type and press Enter; returns the reply that comes."""
        count = self.replies.count()
        self.box.fill(text)
        self.box.press("Enter")
        expect(self.replies).to_have_count(count + 1)
        return self.replies.last
