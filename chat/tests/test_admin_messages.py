"""Who may read any conversation can look through all messages, after saying why; each list is recorded."""

import pytest

from accounts.tests.people import administrator
from chat.models import Conversation, Look

LIST = "/admin/chat/message/"


@pytest.fixture
def said(alice, bob):
    messages = []
    for person, text in ((alice, "SECRET plans"), (bob, "harmless")):
        conversation = Conversation.objects.create(owner=person, title="t")
        messages.append(conversation.messages.create(role="user", status="complete", text=text))
        reply = conversation.messages.create(role="assistant", status="stopped", text="ok", parent=messages[-1])
        Conversation.objects.filter(pk=conversation.pk).update(head=reply)
    return messages


@pytest.fixture
def rita(client, db):
    person = administrator("rita", reads=True)
    client.force_login(person)
    return person


def test_it_asks_why_first_and_records_whose_messages_were_listed(client, said, rita):
    assert "SECRET" not in client.get(LIST).content.decode()
    assert client.post(LIST, {"reason": "Looking for a bug"}).status_code == 302
    assert "SECRET" in client.get(LIST).content.decode()
    looks = Look.objects.values_list("conversation__owner__username", "reason")
    assert sorted(looks) == [(name, "In a list of messages: Looking for a bug") for name in ("alice", "bob")]


def test_search_and_filters(client, said, rita, alice):
    client.post(LIST, {"reason": "Looking for a bug"})
    for query, count in [
        ({"q": "secret"}, 1),
        ({"q": "100%"}, 0),
        ({"person": alice.pk}, 2),
        ({"role__exact": "assistant"}, 2),
        ({"status__exact": "stopped", "person": alice.pk}, 1),
        ({"created_at__gte": "2000-01-01 00:00:00+00:00", "created_at__lt": "2001-01-01 00:00:00+00:00"}, 0),
    ]:
        assert client.get(LIST, query).context["cl"].result_count == count, query
    assert client.get(LIST, {"text__startswith": "S"}).status_code == 400


def test_only_the_listed_ones_are_recorded(client, said, rita):
    client.post(LIST, {"reason": "Looking for a bug"})
    client.get(LIST, {"q": "secret"})
    assert Look.objects.get().conversation.owner.username == "alice"


def test_others_are_refused(client, said):
    client.force_login(administrator())
    assert client.get(LIST).status_code == 403
    assert client.post(LIST, {"reason": "I want to"}).status_code == 403
    assert client.get(f"{LIST}{said[0].pk}/change/").status_code == 403
    assert not Look.objects.exists()


def test_a_message_leads_to_its_place_in_the_transcript(client, said, rita):
    answer = client.get(f"{LIST}{said[0].pk}/change/")
    assert answer["Location"].endswith(f"?message={said[0].pk}#message-{said[0].pk}")


def test_a_page_takes_few_queries(client, said, rita, django_assert_max_num_queries):
    client.post(LIST, {"reason": "Looking for a bug"})
    conversation = said[0].conversation
    conversation.messages.bulk_create(
        type(said[0])(conversation=conversation, role="user", status="complete", text=f"n {n}") for n in range(60)
    )
    with django_assert_max_num_queries(14):
        assert len(client.get(LIST).context["cl"].result_list) == 50
