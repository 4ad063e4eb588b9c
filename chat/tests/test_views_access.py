"""Every page: for its owner; as if it did not exist for others; the login for strangers."""

import pytest
from django.urls import get_resolver, reverse

from chat import views
from chat.models import Conversation

NEEDS_CONVERSATION = ("conversation", "rename_conversation", "delete_conversation")
OPEN_TO_ALL = ("healthz", "readyz")


@pytest.fixture
def conversation(alice):
    return Conversation.objects.create(owner=alice, title="Secret plans")


@pytest.mark.parametrize("name", NEEDS_CONVERSATION)
@pytest.mark.parametrize("method", ["get", "post"])
def test_another_persons_conversation_looks_like_a_missing_one(client, conversation, bob, owner, name, method):
    for other in (bob, owner):
        client.force_login(other, backend="django.contrib.auth.backends.ModelBackend")
        foreign = getattr(client, method)(reverse(name, args=[conversation.pk]))
        missing = getattr(client, method)(reverse(name, args=["00000000-0000-0000-0000-000000000000"]))
        assert foreign.status_code == missing.status_code
        assert foreign.content == missing.content
        assert b"Secret" not in foreign.content
    conversation.refresh_from_db()


@pytest.mark.parametrize("name", [*NEEDS_CONVERSATION, "home", "conversations", "new_conversation"])
@pytest.mark.parametrize("method", ["get", "post"])
def test_strangers_are_sent_to_the_login(client, conversation, name, method):
    address = reverse(name, args=[conversation.pk] if name in NEEDS_CONVERSATION else [])
    answer = getattr(client, method)(address)
    assert answer.status_code == 405 or answer["Location"].startswith(reverse("login"))


def test_no_address_of_this_app_is_missing_here():
    ours = {
        pattern.name
        for part in get_resolver().url_patterns
        for pattern in getattr(part, "url_patterns", [])
        if getattr(pattern.callback, "__module__", "") == views.__name__
    }
    assert ours == {*NEEDS_CONVERSATION, *OPEN_TO_ALL, "home", "conversations", "new_conversation"}


def test_the_list_holds_ones_own_alone(client, conversation, bob):
    client.force_login(bob, backend="django.contrib.auth.backends.ModelBackend")
    assert "Secret" not in client.get(reverse("conversations"), {"current": conversation.pk}).text
