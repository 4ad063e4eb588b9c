"""The box: which keys send, what is kept, what is refused before it is sent."""

import pytest
from playwright.sync_api import expect

from chat.models import Message

from .driving import Person, described


@pytest.fixture
def person(open_page, socket):
    person = Person(open_page())
    socket.wait_until_open()
    return person


def test_enter_sends_and_the_text_stays_until_it_is_acknowledged(person, socket):
    person.box.fill("And a root?")
    person.box.press("Enter")
    frame = socket.expect("message.send")
    assert frame["text"] == "And a root?"
    assert frame["parent"] == person_last_id(person)
    expect(person.box).to_have_value("And a root?")
    expect(person.send).to_be_disabled()
    socket.begin_reply()
    expect(person.box).to_have_value("")
    expect(person.asked.last).to_have_text("And a root?")


def test_shift_enter_starts_a_new_line(person, socket):
    person.box.fill("one")
    person.box.press("Shift+Enter")
    person.box.press_sequentially("two")
    expect(person.box).to_have_value("one\ntwo")
    assert socket.all("message.send") == []


@pytest.mark.parametrize("composing", ["isComposing: true, keyCode: 13", "isComposing: false, keyCode: 229"])
def test_enter_of_an_input_method_does_not_send(person, socket, composing):
    person.box.fill("かんじ")
    person.box.evaluate(
        f"box => box.dispatchEvent(new KeyboardEvent('keydown', {{key: 'Enter', bubbles: true, {composing}}}))"
    )
    person.box.press_sequentially(" is a word")
    person.box.press("Enter")
    assert socket.expect("message.send")["text"] == "かんじ is a word"


@pytest.mark.parametrize("nothing", ["", "   ", "\n\n", "\u200b"])
def test_nothing_cannot_be_sent(person, socket, nothing):
    person.box.fill(nothing)
    expect(person.send).to_be_disabled()
    person.box.press("Enter")
    person.box.fill("something")
    expect(person.send).to_be_enabled()
    assert socket.all("message.send") == []


def test_a_long_paste_stays_quick_and_shows_the_limit_with_both_numbers(person, settings):
    lines = "a line of a long paste\n" * 20_000
    milliseconds = person.box.evaluate(
        """async (box, text) => {
            const began = performance.now();
            box.focus();
            document.execCommand("insertText", false, text.slice(0, 10));
            box.value = text;
            box.dispatchEvent(new InputEvent("input", { bubbles: true }));
            await new Promise(requestAnimationFrame);
            return performance.now() - began;
        }""",
        lines,
    )
    assert milliseconds < 5000
    expect(person.page.get_by_text("Too long: 449.2 of 32.0 KB")).to_be_visible()
    expect(person.send).to_be_disabled()
    assert person.box.input_value() == lines


def test_a_refusal_is_shown_beside_the_box_and_the_text_stays(person, socket):
    person.box.fill("And a root?")
    person.send.click()
    frame = socket.expect("message.send")
    socket.send("error", code="queue_full", text="Too many wait. Try in 20 s.", client_id=frame["client_id"])
    expect(person.page.get_by_role("alert")).to_have_text("Too many wait. Try in 20 s.")
    expect(person.box).to_have_value("And a root?")
    person.send.click()
    assert socket.expect("message.send", 2)["client_id"] != frame["client_id"]


def test_a_draft_survives_a_reload_and_is_gone_once_it_was_sent(person, socket):
    person.box.fill("half a thou")
    person.page.reload()
    expect(person.box).to_have_value("half a thou")
    person.box.press("Enter")
    socket.begin_reply("half a thou")
    expect(person.box).to_have_value("")
    person.page.reload()
    expect(person.questions).to_have_count(2)
    expect(person.box).to_have_value("")


def test_what_was_not_acknowledged_is_sent_again_under_the_same_id(person, socket):
    person.box.fill("And a root?")
    person.box.press("Enter")
    first = socket.expect("message.send")
    socket.drop()
    assert socket.expect("message.send", 2) == first


def test_what_was_stored_before_a_reload_does_not_stay_in_the_box(person, socket, conversation):
    person.box.fill("And a root?")
    person.box.press("Enter")
    frame = socket.expect("message.send")
    conversation.post(parent=frame["parent"], text=frame["text"], client_id=frame["client_id"])
    person.page.reload()
    expect(person.questions).to_have_count(2)
    expect(person.box).to_have_value("")


def test_a_message_of_another_tab_leaves_the_box_alone(person, socket, conversation):
    person.box.fill("mine")
    posted = conversation.post(parent=conversation.head_id, text="theirs", client_id="0" * 32)
    posted.message.client_id = "00000000-0000-0000-0000-000000000000"
    socket.send("message.created", message=described(posted.message))
    expect(person.asked.last).to_have_text("theirs")
    expect(person.box).to_have_value("mine")


def person_last_id(person):
    """The message after which the next one goes, as the database knows it."""
    return Message.objects.filter(role="assistant").latest("id").pk
