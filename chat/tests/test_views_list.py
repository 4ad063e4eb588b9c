"""The list of conversations: by age, by title, without empty ones."""

import uuid
from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from chat import sidebar
from chat.models import Conversation


@pytest.fixture
def begin(alice):
    """Makes one of Alice's, used so many days ago."""

    def begun(title, days=0):
        conversation = Conversation.objects.create(owner=alice)
        conversation.post(parent=None, text="Hello", client_id=uuid.uuid4())
        used = timezone.now() - timedelta(days=days)
        Conversation.objects.filter(pk=conversation.pk).update(title=title, updated_at=used)
        return conversation

    return begun


def test_groups_are_by_age_with_the_newest_first(alice, begin):
    for title, days in (("old", 400), ("month", 20), ("week", 3), ("yesterday", 1), ("today", 0)):
        begin(title, days)
    assert [(group.heading, [str(one) for one in group.conversations]) for group in sidebar.groups(alice)] == [
        ("Today", ["today"]),
        ("Yesterday", ["yesterday"]),
        ("Previous 7 days", ["week"]),
        ("Previous 30 days", ["month"]),
        ("Older", ["old"]),
    ]


def test_an_empty_conversation_is_listed_only_while_it_is_open(alice):
    empty = Conversation.begin(alice)
    assert sidebar.groups(alice) == []
    assert sidebar.groups(alice, current=empty.pk)[0].conversations == [empty]


def test_search_is_over_titles_whatever_their_case(client, alice, begin):
    begin("Garden party")
    begin("Build <b>times</b>")
    client.force_login(alice, backend="django.contrib.auth.backends.ModelBackend")
    text = client.get(reverse("conversations"), {"q": "GARDEN"}, headers={"HX-Request": "true"}).text
    assert "Garden party" in text
    assert "Build" not in text
    assert "<html" not in text
    assert "Build &lt;b&gt;times&lt;/b&gt;" in client.get(reverse("conversations"), {"q": "build"}).text


def test_a_list_that_is_cut_says_so(client, alice, begin, monkeypatch):
    monkeypatch.setattr(sidebar, "LIST_SIZE", 1)
    begin("one")
    client.force_login(alice, backend="django.contrib.auth.backends.ModelBackend")
    assert "Only the newest 1 are listed" in client.get(reverse("conversations")).text
