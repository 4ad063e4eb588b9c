"""Reading another person's conversation takes the right and a reason, and is recorded each time."""

import time

import pytest

from accounts.tests.people import administrator
from chat.admin import transcript as module
from chat.models import Conversation, Look, Message

HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '<iframe srcdoc="<script>alert(1)</script>"></iframe>',
    "[x](javascript:alert(1))",
    '"><svg/onload=alert(1)>',
]


def url(conversation):
    return f"/admin/chat/conversation/{conversation.pk}/change/"


def say(conversation, text, parent=None, role="user", **fields):
    conversation.head = conversation.messages.create(
        role=role, status=fields.pop("status", "complete"), text=text, parent=parent, **fields
    )
    conversation.save()
    return conversation.head


@pytest.fixture
def conversation(alice):
    made = Conversation.objects.create(owner=alice, title="SECRET title", system_prompt="Be brief.")
    question = say(made, "SECRET question\n    indented <b>")
    say(made, "First **answer**", question, "assistant", model="tiny-model")
    say(made, "Second *answer*", question, "assistant", status="stopped", reasoning="thinking aloud")
    return made


@pytest.fixture
def rita(client, db):
    person = administrator("rita", reads=True)
    client.force_login(person)
    return person


def read(client, conversation, reason="Alice asked me to", **query):
    client.post(url(conversation), {"reason": reason})
    return client.get(url(conversation), query)


def test_without_the_right_it_is_refused_in_clear_words(client, conversation):
    client.force_login(administrator())
    for answer in (client.get(url(conversation)), client.post(url(conversation), {"reason": "I want to"})):
        assert answer.status_code == 403
        assert "right of its own" in answer.content.decode()
        assert "SECRET" not in answer.content.decode()
    assert not Look.objects.exists()


def test_with_the_right_it_asks_why_before_it_shows_anything(client, conversation, rita):
    for answer in (client.get(url(conversation)), client.post(url(conversation), {"reason": " \u200b "})):
        page = answer.content.decode()
        assert "Why do you want to read it?" in page
        assert "SECRET" not in page
    assert not Look.objects.exists()


def test_each_opening_is_recorded_and_shown_to_its_owner(client, conversation, rita, alice):
    answer = client.post(url(conversation), {"reason": "Alice asked me to"})
    assert answer.status_code == 302
    for times in (1, 2):
        assert "SECRET question" in client.get(url(conversation)).content.decode()
        assert Look.objects.count() == times
    look = Look.objects.first()
    assert (look.conversation, look.reader, look.reason) == (conversation, rita, "Alice asked me to")


def test_a_reason_holds_for_one_conversation_and_a_quarter_of_an_hour(client, conversation, rita, bob, monkeypatch):
    other = Conversation.objects.create(owner=bob)
    say(other, "SECRET of Bob")
    read(client, conversation)
    assert "Why do you want" in client.get(url(other)).content.decode()
    later = time.time() + 15 * 60 + 1
    monkeypatch.setattr("chat.admin.reasons.time.time", lambda: later)
    assert "Why do you want" in client.get(url(conversation)).content.decode()


def test_the_right_taken_away_closes_it_at_once(client, conversation, rita):
    assert read(client, conversation).status_code == 200
    rita.user_permissions.clear()
    assert client.get(url(conversation)).status_code == 403


def test_ones_own_needs_no_reason_and_leaves_no_record(client, conversation, alice, owner):
    mine = Conversation.objects.create(owner=owner)
    say(mine, "my own words")
    client.force_login(owner)
    assert "my own words" in client.get(url(mine)).content.decode()
    assert not Look.objects.exists()


def test_it_shows_the_branch_with_who_when_how_and_the_summaries_in_place(client, conversation, rita):
    conversation.summaries.create(covers_until=conversation.head, text="Alice has <secrets>.", author="model")
    after = say(conversation, "Last words", conversation.head)
    say(conversation, "", after, "assistant", status="failed", error="Out of memory")
    page = read(client, conversation).content.decode()
    shown = ["SECRET question\n    indented &lt;b&gt;", "Stopped", "thinking aloud", "Second <em>answer</em>"]
    shown += ["Messages up to here are remembered as:", "Alice has &lt;secrets&gt;.", "Last words", "Failed"]
    begin = page.index("transcript-message")  # what is remembered in all stands above, folded
    places = [page.index(text, begin) for text in [*shown, "Out of memory"]]
    assert places == sorted(places)
    assert "First" not in page


def test_other_branches_are_linked_and_can_be_read(client, conversation, rita):
    first = Message.objects.get(text="First **answer**")
    assert f"?message={first.pk}#message-{first.pk}" in read(client, conversation).content.decode()
    page = client.get(url(conversation), {"message": first.pk}).content.decode()
    assert "First <strong>answer</strong>" in page
    assert "tiny-model" in page
    assert "another branch" in page


def test_foreign_and_missing_things_are_not_found(client, conversation, rita, bob):
    other = Conversation.objects.create(owner=bob)
    foreign = say(other, "SECRET of Bob")
    for wrong in ({"message": foreign.pk}, {"message": "x"}, {"message": 10**30}, {"page": 99}, {"page": "²"}):
        assert read(client, conversation, **wrong).status_code == 404
    assert client.get("/admin/chat/conversation/nonsense/change/").status_code == 404


def test_a_long_one_comes_in_pages_and_a_link_finds_its_page(client, conversation, rita, monkeypatch):
    monkeypatch.setattr(module, "PAGE_SIZE", 2)
    last = say(conversation, "The very end", conversation.head)
    page = read(client, conversation).content.decode()
    assert "Page 1 of 2" in page
    assert "The very end" not in page
    assert "The very end" in client.get(url(conversation), {"message": last.pk}).content.decode()
    assert "The very end" in client.get(url(conversation), {"page": 2}).content.decode()


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_titles_messages_and_replies_are_inert(client, conversation, rita, text):
    Conversation.objects.filter(pk=conversation.pk).update(title=text, system_prompt=text)
    say(
        conversation,
        text,
        say(conversation, text, conversation.head),
        "assistant",
        reasoning=text,
        error=text,
        model=text,
    )
    conversation.summaries.create(covers_until=conversation.head, text=text, author="person")
    client.post("/admin/chat/message/", {"reason": text})
    pages = [read(client, conversation, reason=text)]
    pages += [client.get(f"/admin/chat/{name}/") for name in ("conversation", "message", "look")]
    for page in pages:
        content = page.content.decode().lower()
        assert page.status_code == 200
        for sign in ("<script>alert", "<img src=x", "<iframe", 'href="javascript', "<svg/onload"):
            assert sign not in content
        assert "unsafe-inline" not in page["Content-Security-Policy"]


def test_nothing_can_be_added_changed_or_deleted(client, conversation, owner):
    client.force_login(owner)
    message = conversation.head
    read(client, conversation)
    for model, pk in (("conversation", conversation.pk), ("message", message.pk), ("look", Look.objects.get().pk)):
        base = f"/admin/chat/{model}/"
        assert client.get(f"{base}add/").status_code == 403
        assert client.post(f"{base}{pk}/delete/", {"post": "yes"}).status_code == 403
        client.post(f"{base}{pk}/change/", {"text": "forged", "title": "forged", "reason": ""})
        client.post(base, {"action": "delete_selected", "_selected_action": [pk], "post": "yes"})
    conversation.refresh_from_db()
    assert (conversation.title, conversation.messages.count()) == ("SECRET title", 3)
    assert {look.reason for look in Look.objects.all()} == {"Alice asked me to"}


def test_it_is_kept_in_no_cache(client, conversation, rita):
    assert "no-store" in read(client, conversation)["Cache-Control"]
