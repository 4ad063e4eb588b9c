"""Teams open the site over plain http on their own network, where browsers take some functions away."""

import uuid

import pytest
from playwright.sync_api import expect

from .driving import Person

INSECURE = """
    Object.defineProperty(window, "isSecureContext", { value: false });
    delete Crypto.prototype.randomUUID;
"""


@pytest.fixture
def person(open_page, socket, page, context):
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.add_init_script(INSECURE)
    person = Person(open_page())
    socket.wait_until_open()
    return person


def test_messages_get_ids_of_the_right_form(person, socket):
    person.box.fill("And a root?")
    person.box.press("Enter")
    frame = socket.expect("message.send")
    assert uuid.UUID(frame["client_id"]).version == 4
    assert str(uuid.UUID(frame["client_id"])) == frame["client_id"]


def test_a_reply_is_copied_as_it_was_written_and_the_focus_stays(person):
    person.replies.last.get_by_role("button", name="Copy message").press("Enter")
    copied = person.replies.last.get_by_role("button", name="Copied")
    expect(copied).to_be_focused()
    assert person.page.evaluate("navigator.clipboard.readText()") == "A **green** part of a plant."
