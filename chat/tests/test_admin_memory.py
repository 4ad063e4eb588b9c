"""What administrators see of a conversation's memory: to read only, with the right, and recorded like every reading."""

import pytest

from accounts.tests.people import administrator
from chat.models import Look
from chat.tests.memory.fakes import converse

HOSTILE = "<img src=x onerror=alert(1)>"


def url(conversation):
    return f"/admin/chat/conversation/{conversation.pk}/change/"


@pytest.fixture
def conversation(alice):
    """Two turns; the first is summarised twice, its question pinned; the second reply knows what was sent for it."""
    leaf = converse(alice, "SECRET dog", "Nice.", "How old is he?", "He is 5.")
    made = leaf.conversation
    question, first, _, _ = ids = [message.pk for message in made.branch(leaf.pk)]
    older = made.summaries.create(covers_until_id=first, text="The dog is Rex.", author="model", model="tiny")
    newer = made.summaries.create(covers_until_id=first, text="The dog is Max.", author="person", grown_from=older)
    leaf.sent = {
        "parts": [
            ["system", 9, [], None],
            ["summary", 12, [question, first], newer.pk],
            ["message", 7, [ids[2]], None],
        ],
        "prompt_tokens": 28,
        "context": 640,
        "sampling": {"temperature": 0.7, "seed": None},
        "model": "tiny",
    }
    leaf.save()
    made.messages.filter(pk=question).update(pinned=True)
    made.head = leaf
    made.save()
    return made


@pytest.fixture
def rita(client, db):
    """May read; has said why."""
    person = administrator("rita", reads=True)
    client.force_login(person)
    return person


def read(client, conversation, **query):
    client.post(url(conversation), {"reason": "Alice asked me to"})
    answer = client.get(url(conversation), query)
    assert answer.status_code == 200
    return answer.text


def test_summaries_versions_and_pins_stand_above_the_transcript(client, conversation, rita):
    page = read(client, conversation)
    memory = page.partition("transcript-memory")[2].partition("transcript-message")[0]
    for text in ("The dog is Max.", "<del>Rex.</del><ins>Max.</ins>", "Written by a person", "SECRET dog", "In use"):
        assert text in memory, text
    assert "Pinned</span>" in page.partition("transcript-message")[2]


def test_nothing_of_it_can_be_changed(client, conversation, rita):
    page = read(client, conversation).partition('<div class="transcript">')[2]
    for word in ("<form", "Restore", "Unpin", "Compact", "Forget"):
        assert word not in page


def test_what_was_sent_for_a_reply_is_shown_and_recorded(client, conversation, rita):
    transcript = read(client, conversation)
    assert f"?sent={conversation.head_id}" in transcript
    count = Look.objects.count()
    page = client.get(url(conversation), {"sent": conversation.head_id}).text
    for text in (
        "Summary of what was said before",
        "The dog is Max.",
        "How old is he?",
        "Temperature",
        "0.7",
        "Be kind.",
    ):
        assert text in page, text
    assert "Seed" not in page
    assert Look.objects.count() == count + 1


def test_what_was_sent_needs_the_right_and_a_reason(client, conversation, rita):
    address, query = url(conversation), {"sent": conversation.head_id}
    assert "Why do you want to read it?" in client.get(address, query).text
    client.force_login(administrator())
    refused = client.get(address, query)
    assert refused.status_code == 403
    assert "dog" not in refused.text


@pytest.mark.parametrize("number", ["0", "x", "9" * 30])
def test_a_reply_that_is_not_there_is_not_found(client, conversation, rita, number):
    read(client, conversation)
    assert client.get(url(conversation), {"sent": number}).status_code == 404
    assert client.get(url(conversation), {"sent": conversation.path()[0]}).status_code == 404


def test_hostile_texts_are_inert_here_too(client, conversation, rita):
    conversation.messages.update(text=HOSTILE)
    conversation.summaries.update(text=HOSTILE, model=HOSTILE)
    pages = read(client, conversation), read(client, conversation, sent=conversation.head_id)
    for page in pages:
        assert HOSTILE not in page
        assert "&lt;img" in page
