"""A reply in the page while it waits, grows, ends, and after the connection was lost."""

import re

import pytest
from playwright.sync_api import expect

from .driving import Person, described


@pytest.fixture
def person(open_page, socket):
    person = Person(open_page())
    socket.wait_until_open()
    return person


@pytest.fixture
def reply(person, socket):
    """One that was just begun."""
    person.box.fill("And a root?")
    person.box.press("Enter")
    return socket.begin_reply()[1]


def test_parts_are_shown_once_however_often_they_come(person, socket, reply):
    for _ in range(2):
        socket.grow(reply, 1, "One. ", closed="<p>One.</p>", open="")
        socket.grow(reply, 2, "Two", open="<p>Two</p>")
    socket.grow(reply, 3, " more.", open="<p>Two more.</p>")
    expect(person.replies.last.locator(".prose p")).to_have_text(["One.", "Two more."])
    expect(person.replies.last).to_have_attribute("data-status", "streaming")


def test_the_end_brings_the_final_text_and_the_figures(person, socket, reply):
    socket.grow(reply, 1, "One")
    usage = {"prompt_tokens": 1412, "cached_tokens": 1380, "completion_tokens": 11, "first_token_ms": 500}
    usage |= {"restored_tokens": 1200, "queued_ms": 300, "read_per_second": 340.5, "written_per_second": None}
    done = {"status": "complete", "text": "One.", "html": "<p>One.</p>", "usage": usage | {"total_ms": 1500}}
    socket.send("reply.done", message=described(reply, **done))
    expect(person.replies.last.locator(".prose")).to_have_text("One.")
    expect(person.replies.last.locator(".usage")).to_have_text(
        "32 tokens read at 340.5/s · 1,380 reused (1,200 restored) · waited 0.3 s · first token after 0.5 s"
        " · 10 tokens/s · Scripted"
    )
    expect(person.send).to_be_visible()


def test_of_a_stopped_reply_the_figures_say_what_was_done_until_then(person, socket, reply):
    usage = {"prompt_tokens": 1412, "cached_tokens": 380, "read_tokens": 512, "read_per_second": 340.5}
    usage |= {"completion_tokens": 0, "queued_ms": 300, "first_token_ms": None, "total_ms": 1500}
    socket.send("reply.done", message=described(reply, status="stopped", usage=usage))
    expect(person.replies.last.locator(".usage")).to_have_text(
        "512 tokens read at 340.5/s · 380 reused · waited 0.3 s · Scripted"
    )


def test_a_stopped_reply_of_the_real_site_keeps_its_figures(live_site, page):
    person = Person(page, live_site.url).log_in().begin()
    reply = person.ask("count please")
    expect(reply.locator(".prose")).to_contain_text("5")
    person.stop.click()
    expect(reply).to_have_attribute("data-status", "stopped")
    for _ in range(2):
        expect(reply.locator(".usage")).to_have_text(re.compile(r"tokens read.* first token after .* tokens/s"))
        page.reload()


def test_a_screen_reader_hears_begin_and_end_and_not_each_part(person, socket, reply):
    expect(person.page.locator("#announcer")).to_have_text("A reply is being written")
    expect(person.replies.last).to_have_attribute("aria-live", "off")
    socket.send("reply.done", message=described(reply, status="complete", text="One", html="<p>One</p>"))
    expect(person.page.locator("#announcer")).to_have_text("Reply finished")
    expect(person.replies.last).not_to_have_attribute("aria-live", "off")


def test_the_place_in_the_queue_is_shown(person, socket, reply):
    socket.send("reply.queued", reply=reply.pk, position=3, seconds=20)
    expect(person.replies.last.get_by_text("Waiting: 2 replies before yours, about 20 s")).to_be_visible()
    socket.send("reply.queued", reply=reply.pk, position=1, seconds=150)
    expect(person.replies.last.get_by_text("Waiting: yours is next, about 3 min")).to_be_visible()


@pytest.mark.parametrize("how", ["button", "escape"])
def test_stop_asks_for_the_end(person, socket, reply, how):
    expect(person.stop).to_be_visible()
    person.stop.click() if how == "button" else person.page.keyboard.press("Escape")
    assert socket.expect("reply.stop")["reply"] == reply.pk


def test_nothing_is_sent_while_a_reply_runs_and_the_text_waits(person, socket, reply):
    person.box.fill("next")
    person.box.press("Enter")
    socket.send("reply.done", message=described(reply, status="stopped", text="x", html="<p>x</p>"))
    expect(person.send).to_be_enabled()
    expect(person.box).to_have_value("next")
    assert len(socket.all("message.send")) == 1


def test_reasoning_is_folded(person, socket, reply):
    socket.grow(reply, 1, "", open="", reasoning="Roots are below.")
    fold = person.replies.last.locator("details")
    expect(fold.get_by_text("Roots are below.")).to_be_hidden()
    fold.get_by_text("Reasoning").click()
    expect(fold.get_by_text("Roots are below.")).to_be_visible()


def test_after_a_lost_connection_it_goes_on_from_the_last_part(person, socket, reply):
    socket.grow(reply, 1, "One", closed="<p>One</p>", open="")
    socket.grow(reply, 4, "Two", open="<p>Two</p>")
    expect(person.replies.last).to_contain_text("Two")
    socket.drop()
    follow = socket.expect("reply.follow")
    assert (follow["reply"], follow["after"]) == (reply.pk, 4)
    expect(person.page.get_by_text("Connection lost")).to_be_hidden()


def test_what_the_server_had_rendered_is_replaced_by_the_first_part(person, socket, reply):
    reply.save_progress("Half a", "")
    person.page.reload()
    expect(person.replies.last.locator(".prose")).to_have_text("Half a")
    assert socket.expect("reply.follow")["after"] == 0
    socket.grow(reply, 7, "Half a sentence", open="<p>Half a sentence</p>")
    expect(person.replies.last.locator(".prose")).to_have_text("Half a sentence")


def test_another_branch_is_fetched_and_what_grows_in_it_is_not_lost(person, socket, conversation):
    first = conversation.messages.get(role="assistant")
    begun = conversation.retry(first, client_id="11111111-1111-1111-1111-111111111111")
    begun.reply.client_id = None
    socket.send("reply.started", message=described(begun.reply))
    socket.grow(begun.reply, 1, "Another", open="<p>Another</p>")
    socket.grow(begun.reply, 2, " answer", open="<p>Another answer</p>")
    expect(person.replies).to_have_count(1)
    expect(person.replies.last.locator(".prose")).to_have_text("Another answer")
    expect(person.stop).to_be_visible()


def test_a_new_title_is_shown_everywhere(person, socket, conversation):
    socket.send("title.changed", title="Leaves <b>&</b> roots")
    expect(person.page).to_have_title("Leaves <b>&</b> roots")
    expect(person.page.get_by_role("heading", level=1)).to_have_text("Leaves <b>&</b> roots")
    expect(
        person.page.get_by_role("navigation").get_by_role("link", name="Leaves <b>&</b> roots").first
    ).to_be_visible()


def test_who_is_logged_out_gets_to_the_login_page(person, socket, client):
    person.page.context.clear_cookies()
    socket.close(4401)
    expect(person.page.get_by_role("button", name="Log in")).to_be_visible()
