"""Every address of the site gives each kind of person what its row says; an address without a row fails."""

import re

import pytest
from django.db import transaction
from django.urls import URLPattern, get_resolver

from accounts.groups import administrators
from accounts.models import ApiKey, Invitation
from accounts.tests.access_table import PEOPLE, TABLE
from accounts.tests.people import administrator
from chat.models import Conversation, Fact, Look


def routes(patterns=None, prefix=""):
    """Every address of the site as its pattern is written."""
    for pattern in get_resolver().url_patterns if patterns is None else patterns:
        route = prefix + str(pattern.pattern)
        if isinstance(pattern, URLPattern):
            yield route
        else:
            yield from routes(pattern.url_patterns, route)


@pytest.fixture
def people(alice, bob, owner):
    return {
        "nobody": None,
        "alice": alice,
        "bob": bob,
        "adam": administrator("adam"),
        "rita": administrator("rita", reads=True),
        "olivia": owner,
    }


@pytest.fixture
def address(people):
    """Turns a pattern into an address of something of Alice's."""
    conversation = Conversation.objects.create(owner=people["alice"], title="PRIVATE title")
    message = conversation.messages.create(role="user", status="complete", text="SECRET words")
    conversation.head = conversation.messages.create(role="assistant", status="complete", text="SECRET", parent=message)
    conversation.save()
    summary = conversation.summaries.create(covers_until=message, text="SECRET notes", author="extract")
    look = Look.objects.create(conversation=conversation, reader=people["olivia"], reason="The court asks")
    invitation, token = Invitation.issue()
    key, _ = ApiKey.issue(people["alice"], "Script")
    fact = Fact.objects.create(owner=people["alice"], text="My SECRET name is Ann.", source=message)
    objects = {
        "accounts/user": people["alice"].pk,
        "accounts/invitation": invitation.pk,
        "accounts/apikey": key.pk,
        "auth/group": administrators().pk,
        "chat/conversation": conversation.pk,
        "chat/message": message.pk,
        "chat/look": look.pk,
    }
    kind = {
        "token": token,
        "pk": conversation.pk,
        "key": key.pk,
        "fact": fact.pk,
        "reply": conversation.head_id,
        "message": conversation.head_id,
        "summary": summary.pk,
        "model": "default",
        "app_label": "chat",
        "url": "nowhere/",
        "content_type_id": 1,
    }

    def fill(route):
        here = re.match(r"admin/(\w+/\w+)/", route)
        names = kind | {"object_id": objects.get(here[1], 1) if here else 1, "id": people["alice"].pk}
        path = re.sub(
            r"<(?:\w+:)?(\w+)>", lambda found: str(names[found[1]]), re.sub(r"\(\?P(<\w+>).*?\)", r"\1", route)
        )
        return "/" + re.sub(r"[\^$]", "", path)

    return fill


def outcome(answer):
    if answer.status_code not in {301, 302}:
        return str(answer.status_code)
    return "login" if re.match(r"/(admin/)?login/", answer["Location"]) else "on"


def ask(client, person, method, path):
    """The answer, with everything it did undone."""
    client.cookies.clear()
    with transaction.atomic():
        if person:
            client.force_login(person)
        answer = getattr(client, method)(path)
        transaction.set_rollback(True)
    return answer


def test_every_address_has_a_row_and_every_row_an_address():
    # A route of the API stands there once for each of its methods.
    assert sorted(TABLE) == sorted(set(routes()))


@pytest.mark.parametrize("route", sorted(TABLE))
def test_everybody_gets_what_the_row_says(route, people, address, client):
    client.raise_request_exception = False
    path = address(route)
    for method, row in zip(("get", "post"), TABLE[route], strict=True):
        answers = {name: ask(client, people[name], method, path) for name in PEOPLE}
        assert " ".join(outcome(answer) for answer in answers.values()) == " ".join(row.split()), method
        for name, answer in answers.items():
            text = b"".join(answer.streaming_content) if answer.streaming else answer.content
            assert name == "alice" or b"SECRET" not in text, f"{name} reads Alice's words"
            assert name in {"alice", "rita", "olivia"} or b"PRIVATE" not in text, f"{name} reads Alice's title"
