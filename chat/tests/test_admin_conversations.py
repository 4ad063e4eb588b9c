"""The panel's list of conversations shows content only to who may read it, and records what a search shows."""

import pytest

from accounts.tests.people import administrator
from chat.models import Conversation, Look

LIST = "/admin/chat/conversation/"


def talk(person, title="SECRET title", text="SECRET words"):
    conversation = Conversation.objects.create(owner=person, title=title)
    first = conversation.messages.create(role="user", status="complete", text=text)
    conversation.head = conversation.messages.create(role="assistant", status="complete", text="Yes.", parent=first)
    conversation.save()
    return conversation


def search(client, term, reason="The court asks"):
    client.post(f"{LIST}?q={term}", {"reason": reason})
    return client.get(LIST, {"q": term})


@pytest.fixture
def adam(db):
    return administrator()


@pytest.fixture
def rita(db):
    return administrator("rita", reads=True)


def test_titles_are_hidden_from_who_may_not_read(client, alice, adam, rita):
    talk(alice)
    client.force_login(adam)
    page = client.get(LIST).content.decode()
    assert "(hidden)" in page
    assert "alice" in page
    assert "SECRET" not in page
    client.force_login(rita)
    assert "SECRET title" in client.get(LIST).content.decode()
    assert not Look.objects.exists()


def test_ones_own_title_is_shown(client, adam):
    talk(adam, title="My own")
    client.force_login(adam)
    assert "My own" in client.get(LIST).content.decode()


@pytest.mark.parametrize(
    "lookup",
    ["title__startswith", "messages__text__contains", "owner__password__startswith", "system_prompt__contains"],
)
def test_the_address_cannot_ask_about_contents(client, alice, adam, rita, lookup):
    talk(alice)
    for person in (adam, rita):
        client.force_login(person)
        assert client.get(LIST, {lookup: "S"}).status_code == 400


def test_no_side_door_gives_titles_away(client, alice, adam):
    conversation = talk(alice)
    client.force_login(adam)
    doors = [
        "/admin/autocomplete/?app_label=chat&model_name=look&field_name=conversation&term=SECRET",
        f"{LIST}{conversation.pk}/history/",
        f"{LIST}{conversation.pk}/delete/",
        f"{LIST}{conversation.pk}/change/",
        f"{LIST}?q=SECRET",
        f"{LIST}?_facets=1&o=1.2",
        "/admin/chat/message/",
        "/admin/chat/message/?q=SECRET",
    ]
    for door in doors:
        page = client.get(door).content.decode()
        assert "SECRET title" not in page
        assert "SECRET words" not in page


def test_who_may_not_read_cannot_search(client, alice, bob, adam):
    talk(alice)
    talk(bob, text="other")
    client.force_login(adam)
    answer = client.get(LIST, {"q": "SECRET"})
    assert answer.context["cl"].result_count == 2
    assert 'id="searchbar"' not in answer.content.decode()


def test_a_search_asks_why_and_tells_the_people_who_were_found(client, alice, bob, rita):
    found, _ = talk(alice, title="x"), talk(bob, title="y", text="nothing")
    client.force_login(rita)
    answer = client.get(LIST, {"q": "secret"})
    assert "cl" not in answer.context
    assert not Look.objects.exists()
    answer = search(client, "secret")
    assert [row.pk for row in answer.context["cl"].result_list] == [found.pk]
    look = Look.objects.get()
    assert (look.conversation, look.reader, look.reason) == (found, rita, "Found in a search: The court asks")


def test_titles_are_searched_too_and_signs_mean_themselves(client, alice, rita):
    talk(alice, title="100% sure", text="a")
    talk(alice, title="100 times", text="b")
    client.force_login(rita)
    assert search(client, "100%").context["cl"].result_count == 1
    for term in ('"unbalanced', "a AND", "col:x", "*", "'); --", "\\"):
        client.get(LIST, {"q": term})
        assert client.get(LIST, {"q": term}).status_code == 200


def test_filters_by_person_and_date(client, alice, bob, adam):
    talk(alice)
    talk(bob)
    client.force_login(adam)
    assert client.get(LIST, {"person": alice.pk}).context["cl"].result_count == 1
    assert client.get(LIST, {"person": "x"}).context["cl"].result_count == 0
    year = Conversation.objects.first().updated_at.year
    assert client.get(LIST, {"updated_at__year": year}).context["cl"].result_count == 2
    assert client.get(LIST, {"updated_at__year": year - 1}).context["cl"].result_count == 0


def test_a_page_takes_as_many_queries_for_fifty_rows_as_for_one(client, alice, adam, django_assert_max_num_queries):
    client.force_login(adam)
    for _ in range(50):
        talk(alice)
    with django_assert_max_num_queries(12):
        page = client.get(LIST).content.decode()
    assert '<td class="field-num_messages">2</td>' in page


def test_conversations_without_a_message_are_left_out(client, alice, adam):
    Conversation.objects.create(owner=alice)
    client.force_login(adam)
    assert client.get(LIST).context["cl"].result_count == 0
