"""The memory panel in the page: opened, read, corrected, and what is done at a message."""

import re

import pytest
from playwright.sync_api import expect

from chat.models import Message, Summary
from chat.tests.memory.fakes import loaded

from .driving import Person, described, say

HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture
def model(monkeypatch):
    """A model that counts tokens and writes nothing."""
    return loaded(monkeypatch, context_tokens=1024)


@pytest.fixture
def summary(conversation):
    """Of the first turn; another one follows it."""
    made = conversation.summaries.create(
        covers_until_id=conversation.head_id, text="A leaf is green.", author="model", model="Scripted"
    )
    say(conversation, "And a root?", "It is below.")
    return made


@pytest.fixture
def person(open_page, socket, model, summary):
    person = Person(open_page())
    socket.wait_until_open()
    return person


@pytest.fixture
def button(page):
    return page.get_by_role("button", name="Memory", exact=False).and_(page.locator("#memory-button"))


@pytest.fixture
def panel(page):
    return page.get_by_role("complementary", name="Memory")


def opened(button, panel):
    button.click()
    expect(panel.get_by_role("heading", name="Context")).to_be_visible()
    return panel


def test_the_gauge_says_how_full_the_context_is_and_again_after_a_reply(person, button, socket):
    share = re.compile(r"Memory\s+\d+ % of the context is used")
    expect(button).to_have_accessible_name(share)
    before = button.inner_text()
    person.box.fill("w " * 100)
    person.box.press("Enter")
    reply = socket.begin_reply("w " * 100)[1]
    reply.finish("complete", text="Below. " * 50)
    socket.send("reply.done", message=described(reply, html="<p>Below.</p>"))
    expect(button).not_to_have_text(before, use_inner_text=True)
    expect(button).to_have_accessible_name(share)


def test_it_opens_and_closes_by_keyboard_and_stays_as_it_was_left(person, button, panel, page):
    expect(panel).to_be_hidden()
    button.focus()
    page.keyboard.press("Enter")
    expect(panel.get_by_text("A leaf is green.")).to_be_visible()
    expect(panel).to_be_focused()
    expect(button).to_have_attribute("aria-expanded", "true")
    page.reload()
    expect(panel.get_by_text("A leaf is green.")).to_be_visible()
    expect(person.box).to_be_focused()
    panel.get_by_role("button", name="Close memory").focus()
    page.keyboard.press("Escape")
    expect(panel).to_be_hidden()
    expect(button).to_be_focused()


def test_on_a_narrow_screen_it_is_a_drawer_that_never_opens_by_itself(person, button, panel, page):
    page.set_viewport_size({"width": 360, "height": 740})
    opened(button, panel)
    expect(page.locator("#content")).to_have_attribute("inert", "")
    for scroller in ("html", "#memory"):
        assert page.locator(scroller).evaluate("it => it.scrollWidth <= it.clientWidth"), scroller
    page.reload()
    expect(person.box).to_be_visible()
    expect(panel).to_be_hidden()
    opened(button, panel)
    page.mouse.click(5, 300)
    expect(panel).to_be_hidden()


def test_nothing_below_the_drawer_takes_the_focus(person, button, panel, page):
    page.set_viewport_size({"width": 900, "height": 740})  # The sidebar is there, and the drawer covers it.
    expect(page.get_by_role("button", name="New chat")).to_be_visible()
    opened(button, panel)
    expect(page.locator("#sidebar")).to_have_attribute("inert", "")
    page.keyboard.press("Escape")
    expect(page.locator("#sidebar")).not_to_have_attribute("inert", "")
    page.set_viewport_size({"width": 360, "height": 740})  # Here the sidebar is a drawer that is closed itself.
    opened(button, panel)
    page.keyboard.press("Escape")
    expect(page.locator("#sidebar")).to_have_attribute("inert", "")
    expect(page.locator("#content")).not_to_have_attribute("inert", "")


def test_long_right_to_left_and_hostile_texts_stay_inside(
    conversation, summary, open_page, socket, model, button, panel, page
):
    text = f"{HOSTILE} {'x' * 3000} שלום"
    Message.objects.filter(role="user").update(text=text, pinned=True)
    Summary.objects.update(text=text, model=HOSTILE)
    page.set_viewport_size({"width": 360, "height": 740})
    open_page()
    opened(button, panel)
    panel.get_by_text("It stands for").click()
    expect(panel.locator("img")).to_have_count(0)
    expect(panel.get_by_text(HOSTILE).first).to_be_visible()
    assert page.locator("#memory").evaluate("it => it.scrollWidth <= it.clientWidth")


def test_a_refused_correction_stays_in_the_box_and_a_good_one_is_a_version(person, button, panel):
    opened(button, panel).get_by_role("link", name="Edit").click()
    box = panel.get_by_role("textbox", name="What the assistant remembers")
    expect(box).to_be_focused()
    expect(box).to_have_value("A leaf is green.")
    box.fill("green " * 900)
    expect(panel.get_by_text("900 words, 5,400 characters")).to_be_visible()
    panel.get_by_role("button", name="Save").click()
    expect(panel.get_by_role("alert").filter(has_text="tokens")).to_be_visible()
    expect(box).to_have_accessible_description(re.compile("tokens.*instead of the messages|instead of the.*tokens"))
    expect(box).to_have_value("green " * 900)
    box.fill("A leaf is red.")
    panel.get_by_role("button", name="Save").click()
    expect(panel.get_by_text("Saved.")).to_be_visible()
    expect(panel.page.locator("#announcer")).to_contain_text("Saved.")
    expect(panel.get_by_role("link", name="Edit")).to_be_focused()
    panel.locator("details", has_text="Written by the model").get_by_role("time").click()
    panel.get_by_role("button", name="Restore").click()
    expect(panel.locator("#memory-text")).to_have_text("A leaf is green.")


def test_what_is_being_written_survives_a_reply_and_closing(person, button, panel, socket, page):
    opened(button, panel).get_by_role("link", name="Edit").click()
    box = panel.get_by_role("textbox", name="What the assistant remembers")
    box.fill("Half a thou")
    with page.expect_response(re.compile("part=gauge")):
        socket.send("reply.done", message=described(Message.objects.latest("id")))
    page.keyboard.press("Escape")
    button.click()
    expect(box).to_have_value("Half a thou")


def test_a_message_is_pinned_where_it_stands_and_let_go_of_in_the_panel(person, button, panel, page):
    question = person.questions.first
    pin = question.get_by_role("button", name="Pin")
    pin.press("Enter")
    expect(pin).to_have_attribute("aria-pressed", "true")
    expect(pin).to_be_focused()
    expect(question.get_by_text("Pinned")).to_be_visible()
    opened(button, panel).get_by_role("button", name="Unpin").press("Enter")
    expect(panel.get_by_role("button", name="Unpin")).to_have_count(0)
    expect(pin).to_have_attribute("aria-pressed", "false")
    assert not Message.objects.filter(pinned=True).exists()


def test_a_pin_that_is_refused_says_why_and_is_not_shown(person, conversation, open_page):
    say(conversation, "word " * 600, "Yes.")
    open_page()
    pin = person.questions.last.get_by_role("button", name="Pin")
    pin.click()
    expect(person.page.locator("#notice")).to_contain_text("are kept for them")
    expect(pin).to_have_attribute("aria-pressed", "false")


def test_the_way_leads_to_messages_that_are_not_loaded_yet(conversation, open_page, socket, model, button, panel, page):
    Message.objects.filter(text="What is a leaf?").update(pinned=True)
    for number in range(60):
        say(conversation, f"question {number}", "answer")
    open_page()
    first = page.locator("article").filter(has_text="What is a leaf?")
    expect(first).to_have_count(0)
    opened(button, panel).get_by_role("link", name="What is a leaf?").click()
    expect(first).to_be_in_viewport()
    expect(first).to_be_focused()


def test_forgetting_asks_and_leaves_a_note(person, page):
    question, reply = person.questions.first, person.replies.first
    question.get_by_role("link", name="Forget").press("Enter")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("cannot be restored")
    expect(dialog.get_by_role("checkbox", name="Forget the answers to it as well")).to_be_checked()
    page.keyboard.press("Escape")
    expect(question).to_contain_text("What is a leaf?")
    question.get_by_role("link", name="Forget").press("Enter")
    dialog.get_by_role("button", name="Forget").click()
    expect(dialog).to_be_hidden()
    for message in (question, reply):
        expect(message.get_by_text("This message was forgotten.")).to_be_visible()
        expect(message.get_by_role("button")).to_have_count(0)
    assert "leaf" not in question.inner_html()
    assert "green" not in reply.inner_html()


def test_what_another_tab_forgot_goes_here_too(person, socket, conversation):
    socket.send("message.forgotten", messages=conversation.path()[:1])
    expect(person.questions.first.get_by_text("This message was forgotten.")).to_be_visible()
    expect(person.questions.first).not_to_contain_text("leaf")
    expect(person.replies.first).to_contain_text("green")


def test_what_happened_while_the_connection_was_lost_is_shown_when_it_is_back(
    person, socket, conversation, button, panel
):
    opened(button, panel)
    _, reply, last, _ = conversation.path()
    Message.objects.filter(pk=last).update(pinned=True)
    Message.objects.filter(pk=reply).update(status="forgotten", text="")
    socket.drop()
    expect(person.questions.last.get_by_text("Pinned")).to_be_visible()
    expect(person.replies.first.get_by_text("This message was forgotten.")).to_be_visible()
    expect(panel.get_by_role("button", name="Unpin: And a root?")).to_be_visible()


def test_what_another_tab_changes_is_shown_but_what_is_being_written_stays(person, socket, button, panel, summary):
    opened(button, panel).get_by_role("link", name="Edit").click()
    box = panel.get_by_role("textbox", name="What the assistant remembers")
    box.fill("Half a thou")
    first = Message.objects.earliest("id").pk
    Message.objects.filter(pk=first).update(pinned=True)
    with panel.page.expect_response(re.compile("part=gauge")):
        socket.send("memory.changed", pinned=[first], tab="")
    expect(person.questions.first.get_by_text("Pinned")).to_be_visible()
    expect(box).to_have_value("Half a thou")
    Summary.objects.create(
        conversation=summary.conversation, covers_until=summary.covers_until, text="Newer.", author="person"
    )
    panel.get_by_role("button", name="Save").click()
    expect(panel.get_by_role("alert").filter(has_text="A newer summary")).to_be_visible()
    expect(box).to_have_value("Half a thou")


def test_what_was_sent_is_shown_in_a_dialog(person, conversation, page):
    path = conversation.path()
    parts = [["summary", 12, path[:2], Summary.objects.get().pk], ["message", 7, [path[2]], None]]
    Message.objects.filter(pk=conversation.head_id).update(
        sent={"parts": parts, "context": 1024, "sampling": {"temperature": 0.7}}, model="Scripted"
    )
    person.replies.last.get_by_role("link", name="What was sent").press("Enter")
    dialog = page.get_by_role("dialog", name="What was sent")
    expect(dialog).to_contain_text("19 of 1,024 tokens")
    dialog.get_by_text("Summary of what was said before").last.click()
    expect(dialog.get_by_text("A leaf is green.")).to_be_visible()
    dialog.get_by_role("link", name="Close").click()
    expect(dialog).to_be_hidden()


def test_a_new_message_has_the_same_tools(person, socket, page):
    person.box.fill("And a bud?")
    person.box.press("Enter")
    message, reply = socket.begin_reply("And a bud?")
    reply.finish("complete", text="It opens.")
    socket.send("reply.done", message=described(reply, html="<p>It opens.</p>"))
    expect(person.replies.last.get_by_role("link", name="What was sent")).to_have_attribute(
        "href", re.compile(rf"/messages/{reply.pk}/sent/$")
    )
    person.questions.last.get_by_role("button", name="Pin").click()
    expect(person.questions.last.get_by_text("Pinned")).to_be_visible()
    assert Message.objects.get(pk=message.pk).pinned


def test_a_second_tab_follows_pins_corrections_and_forgetting(live_site, page):
    person = Person(page, live_site.url).log_in().begin()
    for text in ("My cat is called Tom. " * 3, "He is 5 years old. " * 3, "And now?"):
        expect(person.ask(text)).to_have_attribute("data-status", "complete")
    other = Person(page.context.new_page())
    other.page.goto(page.url)
    panels = []
    for where in (page, other.page):
        where.locator("#memory-button").click()
        panels.append(where.get_by_role("complementary", name="Memory"))
    mine, theirs = panels
    expect(theirs.get_by_text("Nothing is summarised yet")).to_be_visible()

    person.questions.first.get_by_role("button", name="Pin").click()
    expect(other.questions.first.get_by_role("button", name="Pin")).to_have_attribute("aria-pressed", "true")
    expect(theirs.get_by_role("button", name="Unpin")).to_have_count(1)
    theirs.get_by_role("button", name="Unpin").click()
    expect(person.questions.first.get_by_role("button", name="Pin")).to_have_attribute("aria-pressed", "false")
    expect(mine.get_by_role("button", name="Unpin")).to_have_count(0)

    theirs.get_by_role("button", name="Compact now").click()
    expect(mine.get_by_text("It stands for 4 messages")).to_be_visible()
    expect(theirs.get_by_text("It stands for 4 messages")).to_be_visible()
    mine.get_by_role("link", name="Edit").click()
    mine.get_by_role("textbox").fill("The cat is called Max.")
    mine.get_by_role("button", name="Save").click()
    expect(theirs.locator("#memory-text")).to_have_text("The cat is called Max.")
    expect(mine.get_by_text("Saved.")).to_be_visible()  # what it did itself loads nothing anew
    theirs.locator("details", has_text="Key sentences").get_by_role("time").click()
    theirs.get_by_role("button", name="Restore").click()
    expect(mine.locator("#memory-text")).to_contain_text("Tom")

    person.questions.first.get_by_role("link", name="Forget").press("Enter")
    page.get_by_role("dialog").get_by_role("button", name="Forget").click()
    expect(other.questions.first.get_by_text("This message was forgotten.")).to_be_visible()
    expect(theirs.locator("#memory-text").filter(has_text="Tom")).to_have_count(0)
    other.page.close()


def test_compacting_shows_its_progress_and_then_the_summary(live_site, page):
    person = Person(page, live_site.url).log_in().begin()
    for number in range(3):
        reply = person.ask(f"My cat number {number} is called Tom{number}. " * 3)
        expect(reply).to_have_attribute("data-status", "complete")
    page.locator("#memory-button").click()
    panel = page.get_by_role("complementary", name="Memory")
    expect(panel.get_by_text("Nothing is summarised yet: all 6 messages")).to_be_visible()
    panel.get_by_role("button", name="Compact now").click()
    expect(panel.get_by_text("It stands for")).to_be_visible()
    expect(panel.get_by_text("Key sentences, taken as they stand")).to_be_visible()
    expect(page.locator("#announcer")).to_have_text("Summarising is done")
    expect(panel.get_by_role("button", name="Compact now")).to_be_disabled()
    expect(panel.get_by_text("There is nothing to summarise now")).to_be_visible()
