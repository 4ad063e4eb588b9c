"""How the page sits on screens of any width, and whether hands on a keyboard reach everything."""

import pytest
from playwright.sync_api import expect

from .driving import Person, say

WIDE_TABLE = "\n".join("|" + cells * 30 for cells in ("column|", "---|", "a value|"))
CODE = '{"a":1,' * 900
WIDE = f"{WIDE_TABLE}\n\n{'x' * 5000}\n\n```json\n{CODE}\n```\n\n$${'x+' * 300}y$$"


@pytest.mark.parametrize("width", [320, 360, 1280])
def test_the_page_never_scrolls_sideways(open_page, conversation, socket, page, width):
    say(conversation, "w" * 5000, WIDE)
    page.set_viewport_size({"width": width, "height": 700})
    open_page()
    for scroller in ("html", "#log"):
        assert page.locator(scroller).evaluate("it => it.scrollWidth <= it.clientWidth"), scroller
    assert page.locator(".prose .table").evaluate("it => it.scrollWidth > it.clientWidth")
    assert page.locator(".prose .code pre").evaluate("it => it.scrollWidth > it.clientWidth")


def test_it_opens_at_the_newest_and_follows_only_who_is_there(open_page, conversation, socket, page):
    for number in range(20):
        say(conversation, f"question {number}", "answer\n\n" * 5)
    person = Person(open_page())
    expect(person.replies.last).to_be_in_viewport()
    jump = page.get_by_role("button", name="Jump to newest")
    expect(jump).to_be_hidden()
    person.log.evaluate("log => log.scrollTo(0, 0)")
    jump.click()
    expect(person.replies.last).to_be_in_viewport()
    expect(jump).to_be_hidden()


def test_earlier_messages_come_in_above_without_moving_what_is_read(open_page, conversation, socket, page):
    for number in range(60):
        say(conversation, f"question {number}", "answer")
    person = Person(open_page())
    expect(page.locator("article")).to_have_count(100)
    first = page.locator("article").first
    identity = first.get_attribute("id")
    button = page.get_by_role("button", name="Show earlier messages")
    button.scroll_into_view_if_needed()
    before = page.locator(f"#{identity}").bounding_box()["y"]
    button.press("Enter")
    expect(page.locator("article")).to_have_count(122)
    after = page.locator(f"#{identity}").bounding_box()["y"]
    assert abs(after - before) < 80  # the button itself is gone
    expect(button).to_have_count(0)
    expect(person.asked.first).to_have_text("What is a leaf?")


def test_on_a_narrow_screen_the_sidebar_is_a_drawer_for_the_keyboard_too(open_page, socket, page):
    page.set_viewport_size({"width": 360, "height": 740})
    open_page()
    new_chat = page.get_by_role("button", name="New chat")
    expect(new_chat).to_be_hidden()
    opener = page.get_by_role("button", name="Conversations and account")
    opener.focus()
    page.keyboard.press("Enter")
    expect(new_chat).to_be_visible()
    expect(page.get_by_role("button", name="Close the sidebar")).to_be_focused()
    page.keyboard.press("Escape")
    expect(new_chat).to_be_hidden()
    expect(opener).to_be_focused()


def test_the_first_tab_stop_leads_past_the_sidebar(open_page, socket, page):
    open_page()
    page.evaluate("document.body.tabIndex = -1; document.body.focus()")  # as if the box did not ask for the focus
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "content"


def test_light_or_dark_is_the_systems_choice_until_the_person_chooses(open_page, socket, page):
    page.emulate_media(color_scheme="dark")
    open_page()
    background = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(background)
    page.get_by_role("button", name="Light or dark").click()
    light = page.evaluate(background)
    assert light != dark
    page.reload()
    assert page.evaluate(background) == light


def test_renaming_and_deleting_ask_in_a_dialog(open_page, conversation, socket, page):
    open_page()
    page.get_by_role("link", name="Rename What is a leaf?").focus()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Title").fill("Leaves")
    dialog.get_by_label("Title").press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Leaves")
    page.get_by_role("link", name="Delete Leaves").focus()
    page.keyboard.press("Enter")
    expect(dialog).to_contain_text("Leaves")
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    page.get_by_role("link", name="Delete Leaves").press("Enter")
    dialog.get_by_role("button", name="Delete").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("New chat")


def test_searching_shortens_the_list(open_page, conversation, socket, page, alice):
    other = type(conversation).objects.create(owner=alice, title="Roots")
    say(other, "What is a root?", "Below.")
    open_page()
    listed = page.get_by_role("navigation", name="Conversations").locator(".list-link")
    expect(listed).to_have_count(2)
    page.get_by_role("searchbox", name="Search titles").fill("roo")
    expect(listed).to_have_text(["Roots"])
    page.get_by_role("searchbox", name="Search titles").fill("zebra")
    expect(page.get_by_text("No title holds “zebra”.")).to_be_visible()
