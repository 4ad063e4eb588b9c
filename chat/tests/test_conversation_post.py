"""Posting stores a message with its empty reply, once for each client_id, and never overwrites."""

from uuid import uuid4

import pytest

from chat.models import Conversation, Message, RefusedPost


@pytest.fixture
def conversation(alice):
    return Conversation.begin(alice)


def post(conversation, text="hi", parent=None, client_id=None):
    return conversation.post(parent=parent, text=text, client_id=client_id or uuid4())


def answered(conversation, text="hi", parent=None):
    reply = post(conversation, text, parent).reply
    reply.finish(Message.Status.COMPLETE, text=f"to {text}")
    return reply


def test_a_message_comes_with_an_empty_reply_that_is_shown(conversation):
    posted = post(conversation)
    assert (posted.created, posted.branched) == (True, False)
    assert (posted.message.text, posted.message.status) == ("hi", "complete")
    assert (posted.reply.parent, posted.reply.status, posted.reply.text) == (posted.message, "queued", "")
    conversation.refresh_from_db()
    assert conversation.head == posted.reply


def test_the_same_client_id_returns_the_same_rows(conversation):
    client_id = uuid4()
    first, again = (post(conversation, client_id=client_id) for _ in range(2))
    assert (again.message, again.reply, again.created) == (first.message, first.reply, False)
    assert Message.objects.count() == 2


def test_another_message_after_the_same_parent_is_a_branch(conversation):
    first = answered(conversation)
    assert not post(conversation, parent=first.pk).branched
    assert post(conversation, parent=first.pk).branched
    assert post(conversation, parent=None).branched


@pytest.mark.parametrize("foreign", [True, False])
def test_a_parent_of_another_conversation_is_as_unknown_as_none(conversation, bob, foreign):
    theirs = answered(Conversation.begin(bob))
    with pytest.raises(RefusedPost) as refused:
        post(conversation, parent=theirs.pk if foreign else 10**9)
    assert refused.value.code == "unknown_parent"
    assert not conversation.messages.exists()


def test_a_persons_message_is_no_parent(conversation):
    with pytest.raises(RefusedPost, match="not in this conversation"):
        post(conversation, parent=post(conversation).message.pk)


def test_nothing_follows_a_reply_that_is_being_written(conversation):
    running = post(conversation).reply
    with pytest.raises(RefusedPost) as refused:
        post(conversation, parent=running.pk)
    assert refused.value.code == "reply_running"


def test_a_conversation_that_is_not_used_is_not_begun_twice(alice, conversation):
    assert Conversation.begin(alice) == conversation
    post(conversation)
    assert Conversation.begin(alice) != conversation


def test_the_prompt_of_the_site_is_frozen_when_a_conversation_begins(conversation, settings):
    before = conversation.system_prompt
    settings.CHAT_SYSTEM_PROMPT = "Be a pirate."
    conversation.refresh_from_db()
    assert conversation.system_prompt == before != "Be a pirate."


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("short", "short"),
        ("two\n lines\t here", "two lines here"),
        ("word " * 30, "word " * 11 + "word…"),
        ("x" * 100, "x" * 60 + "…"),
    ],
)
def test_the_first_message_names_the_conversation(conversation, text, title):
    answered(conversation, text)
    conversation.refresh_from_db()
    assert conversation.title == title
    post(conversation, "another")
    conversation.refresh_from_db()
    assert conversation.title == title
