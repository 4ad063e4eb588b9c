"""A person sees, adds, corrects, deletes and switches off what is remembered about him."""

import pytest

from chat.models import Conversation, Fact
from chat.services import knowing

pytestmark = pytest.mark.django_db


@pytest.fixture
def client(client, alice):
    client.force_login(alice)
    return client


def remembered():
    return list(Fact.objects.values_list("text", "kind", "corrected"))


def test_it_is_off_at_first_and_can_be_switched(client, alice):
    assert "Nothing is kept" in client.get("/account/facts/").text
    client.post("/account/facts/switch/", {"on": "1"})
    alice.refresh_from_db()
    assert alice.remembers_facts
    assert "is kept from now on" in client.get("/account/facts/").text
    client.post("/account/facts/switch/", {"on": "0"})
    alice.refresh_from_db()
    assert not alice.remembers_facts


def test_a_fact_is_added_in_ones_own_words_as_one_line(client):
    client.post("/account/facts/", {"text": " I have\ttwo  cats.\x07 ", "kind": "other"})
    assert remembered() == [("I have two cats.", "other", True)]


@pytest.mark.parametrize("text", ["", "  ", "\u200b", "x" * 301])
def test_what_cannot_be_a_fact_stays_in_the_box_with_a_reason(client, text):
    answer = client.post("/account/facts/", {"text": text, "kind": "other"})
    assert answer.status_code == 200
    assert 'class="error' in answer.text or "errorlist" in answer.text or 'role="alert"' in answer.text
    assert remembered() == []


def test_the_list_shows_where_it_was_said(client, alice):
    talk = Conversation.make(alice)
    message = talk.messages.create(role="user", status="complete", text="I live in Lisbon.")
    Fact.objects.create(owner=alice, text="<b>I live in Lisbon.</b>", source=message)
    page = client.get("/account/facts/").text
    assert talk.get_absolute_url() in page
    assert "&lt;b&gt;I live in Lisbon." in page


def test_a_correction_keeps_the_source_and_says_that_it_is_one(client, alice):
    fact = Fact.objects.create(owner=alice, text="I live in Lisbon.")
    assert "I live in Lisbon." in client.get(f"/account/facts/{fact.pk}/").text
    client.post(f"/account/facts/{fact.pk}/", {"text": "I live in Oslo.", "kind": "other"})
    assert remembered() == [("I live in Oslo.", "other", True)]


def test_one_or_all_can_be_deleted_and_never_anybody_elses(client, alice, bob):
    first, *_ = [Fact.objects.create(owner=alice, text=f"I have {number} cats.") for number in range(3)]
    other = Fact.objects.create(owner=bob, text="I am Bob.")
    client.post(f"/account/facts/{first.pk}/delete/")
    assert client.post(f"/account/facts/{other.pk}/delete/").status_code == 404
    assert Fact.objects.count() == 3
    assert "2 facts will be deleted" in client.get("/account/facts/delete/").text
    client.post("/account/facts/delete/")
    assert remembered() == [("I am Bob.", "other", False)]


def test_conversations_that_know_a_changed_fact_lose_their_caches_and_files_are_purged(alice, monkeypatch):
    forgotten, purges = [], []

    class Model:
        @staticmethod
        def forget(*conversations):
            forgotten.extend(conversations)

    monkeypatch.setattr(knowing.runtime, "chat_model", lambda: Model)
    monkeypatch.setattr(knowing.purging, "soon", lambda: purges.append(True))
    fact = Fact.objects.create(owner=alice, text="I live in Lisbon.")
    knows, other = Conversation.make(alice), Conversation.make(alice)
    Conversation.objects.filter(pk=knows.pk).update(facts=[fact.pk])
    knowing.correct_fact(fact, text="I live in Oslo.", kind="other")
    knowing.switch_facts(alice.pk, on=False)
    knowing.delete_facts(alice.pk, [fact.pk])
    assert forgotten == [str(knows.pk)] * 3
    assert len(purges) == 3
    assert str(other.pk) not in forgotten
