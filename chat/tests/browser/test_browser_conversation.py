"""The whole site in a real browser: asking, stopping, coming back."""

from playwright.sync_api import expect

from .driving import Person


def test_a_reply_grows_and_ends_with_its_figures(person):
    reply = person.ask("count")
    expect(reply).to_have_attribute("data-status", "streaming")
    expect(reply).to_contain_text("1 2 3")
    expect(person.stop).to_be_visible()
    expect(reply).to_have_attribute("data-status", "complete")
    expect(reply).to_contain_text("99 100.")
    expect(reply).to_contain_text("tokens/s")
    expect(person.stop).to_be_hidden()
    expect(person.page).to_have_title("count")


def test_stop_keeps_what_was_written_and_retry_writes_another(person):
    reply = person.ask("count")
    expect(reply).to_contain_text("1 2 3")
    person.page.keyboard.press("Escape")
    expect(reply).to_have_attribute("data-status", "stopped")
    expect(reply).not_to_contain_text("100.")
    reply.get_by_role("button", name="Retry").click()
    expect(person.replies.last).to_contain_text("2 / 2")
    expect(person.replies.last).to_have_attribute("data-status", "complete")


def test_a_reload_in_the_middle_goes_on_and_ends_with_the_whole_text(person):
    reply = person.ask("count")
    expect(reply).to_contain_text("1 2 3")
    person.page.reload()
    expect(person.replies.last).to_have_attribute("data-status", "complete")
    expect(person.replies.last.locator(".prose")).to_have_text(" ".join(str(n) for n in range(1, 101)) + ".")
    expect(person.replies.last.locator(".dots")).to_be_hidden()


def test_a_second_tab_shows_the_same_as_it_grows(person, context):
    other = Person(context.new_page())
    other.page.goto(person.page.url)
    reply = person.ask("count")
    expect(other.replies.last).to_contain_text("1 2 3")
    expect(other.replies.last).to_have_attribute("data-status", "complete")
    expect(other.asked.last).to_have_text("count")
    expect(reply).to_have_attribute("data-status", "complete")


def test_code_comes_with_a_copy_button_that_gives_the_code_alone(person, context):
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    reply = person.ask("code")
    expect(reply).to_have_attribute("data-status", "complete")
    reply.get_by_role("button", name="Copy", exact=True).click()
    expect(reply.get_by_role("button", name="Copied")).to_be_visible()
    assert person.page.evaluate("navigator.clipboard.readText()") == "print('hi')"


def test_a_reply_that_fails_or_is_empty_says_so_and_can_be_tried_again(person):
    reply = person.ask("break")
    expect(reply).to_have_attribute("data-status", "failed")
    expect(reply.get_by_role("button", name="Retry")).to_be_visible()
    reply = person.ask("nothing")
    expect(reply.get_by_role("button", name="Retry")).to_be_visible()
    expect(person.ask("hello")).to_contain_text("You said: hello")


def test_an_edited_message_makes_a_version_beside_the_old_one(person):
    expect(person.ask("frist")).to_have_attribute("data-status", "complete")
    person.questions.first.get_by_role("button", name="Edit").click()
    expect(person.box).to_have_value("frist")
    person.box.fill("first")
    person.box.press("Enter")
    expect(person.replies.last).to_contain_text("You said: first")
    expect(person.questions).to_have_count(1)
    expect(person.questions.first).to_contain_text("2 / 2")
    person.questions.first.get_by_role("button", name="Previous version").click()
    expect(person.replies.last).to_contain_text("You said: frist")


def test_everything_is_there_after_the_server_was_killed_and_started_again(person, live_site):
    reply = person.ask("count")
    expect(reply).to_contain_text("1 2 3")
    live_site.env["PORT"] = str(live_site.port)
    live_site.__exit__()
    expect(person.page.get_by_text("Connection lost")).to_be_visible()
    live_site.__enter__()
    expect(person.page.get_by_text("Connection lost")).to_be_hidden()
    expect(person.replies.last).to_have_attribute("data-status", "interrupted")
    expect(person.asked.last).to_have_text("count")
    person.page.wait_for_function("fetch('/readyz').then((answer) => answer.ok)")
    expect(person.ask("again")).to_contain_text("You said: again")
    person.page.reload()
    expect(person.replies).to_have_count(2)
