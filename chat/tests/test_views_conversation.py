"""The page of a conversation: what it shows and that it stays quick."""

import time
import uuid

import pytest
from django.urls import reverse

from chat.models import Conversation, Look, Message


@pytest.fixture
def conversation(alice):
    return Conversation.begin(alice)


@pytest.fixture
def page(client, alice, conversation):
    """Opens it as Alice."""
    client.force_login(alice, backend="django.contrib.auth.backends.ModelBackend")
    return lambda **query: client.get(conversation.get_absolute_url(), query)


def say(conversation, question, answer):
    posted = conversation.post(parent=conversation.head_id, text=question, client_id=uuid.uuid4())
    posted.reply.finish("complete", text=answer)
    return posted


def test_home_leads_to_the_newest_conversation_or_a_new_one(client, alice):
    client.force_login(alice, backend="django.contrib.auth.backends.ModelBackend")
    begun = client.get(reverse("home"))
    only = Conversation.objects.get()
    assert begun["Location"] == only.get_absolute_url()
    say(only, "Hello", "Hi")
    client.post(reverse("new_conversation"))
    assert client.get(reverse("home"))["Location"] == only.get_absolute_url()


def test_what_a_person_wrote_is_text_and_a_reply_is_html(page, conversation):
    say(conversation, "<img src=x onerror=alert(1)> **no**\n\tindented", "**bold** <img src=x onerror=alert(1)>")
    text = page().text
    assert "&lt;img src=x onerror=alert(1)&gt; **no**\n\tindented" in text
    assert "<strong>bold</strong>" in text
    assert "<img src=x" not in text


def test_messages_carry_role_status_and_id(page, conversation):
    posted = say(conversation, "Hello", "Hi")
    text = page().text
    assert 'role="log"' in text
    for message in (posted.message, posted.reply):
        assert f'data-id="{message.pk}"' in text
        assert f'data-role="{message.role}"' in text
    assert text.count('data-status="complete"') == 3  # the third is in the template of new messages


def test_versions_are_counted(page, conversation):
    first = say(conversation, "Hello", "Hi")
    second = conversation.retry(first.reply, client_id=uuid.uuid4()).reply
    second.finish("complete", text="Hi again")
    text = page().text
    assert "2 / 2" in text
    assert f'data-message="{first.reply.pk}"' in text
    assert ">Hi<" not in text


def test_a_long_conversation_opens_with_its_newest_hundred_and_quickly(
    page, conversation, django_assert_max_num_queries
):
    parent = None
    for number in range(500):
        question = Message.objects.create(
            conversation=conversation, parent=parent, role="user", status="complete", text=f"question {number}"
        )
        parent = Message.objects.create(
            conversation=conversation, parent=question, role="assistant", status="complete", text=f"answer **{number}**"
        )
    conversation.head = parent
    conversation.save()
    page()
    with django_assert_max_num_queries(12):
        began = time.perf_counter()
        text = page().text
    assert time.perf_counter() - began < 2
    assert "question 450<" in text
    assert "question 449<" not in text
    earlier = conversation.path()[900]
    assert f"before={earlier}" in text
    assert "question 449<" in page(before=earlier).text
    assert page(before=0).status_code == page(before="x").status_code == 404


def test_the_owner_sees_who_looked_and_why(page, conversation, bob):
    assert "read this" not in page().text
    Look.objects.create(conversation=conversation, reader=bob, reason="A complaint was to be checked.")
    text = page().text
    assert "Someone else read this" in text
    assert "<strong>bob</strong>" in text
    assert "A complaint was to be checked." in text


def test_renaming_changes_the_title_and_refuses_an_invisible_one(client, page, conversation):
    page()
    address = reverse("rename_conversation", args=[conversation.pk])
    assert "can be seen" in client.post(address, {"title": "\u200b"}).text
    assert client.post(address, {"title": " New \u0007 name "})["Location"] == conversation.get_absolute_url()
    conversation.refresh_from_db()
    assert conversation.title == "New name"


@pytest.mark.parametrize("elsewhere", ["https://evil.example/", "//evil.example", "javascript:alert(1)"])
def test_nobody_is_sent_to_another_site(client, page, conversation, elsewhere):
    page()
    answer = client.post(reverse("rename_conversation", args=[conversation.pk]), {"title": "x", "next": elsewhere})
    assert answer["Location"] == conversation.get_absolute_url()


def test_deleting_asks_first_and_needs_the_token(client, page, conversation, alice):
    say(conversation, "Hello", "Hi")
    page()
    address = reverse("delete_conversation", args=[conversation.pk])
    assert "gone for good" in client.get(address).text
    careful = type(client)(enforce_csrf_checks=True)
    careful.force_login(alice, backend="django.contrib.auth.backends.ModelBackend")
    assert careful.post(address).status_code == 403
    assert Conversation.objects.filter(pk=conversation.pk).exists()
    assert client.post(address, {"next": conversation.get_absolute_url()})["Location"] == reverse("home")
    assert not Message.objects.exists()
