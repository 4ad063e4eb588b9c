"""A conversation is a tree of which one branch is shown; retry and show move between branches and lose nothing."""

from uuid import uuid4

import pytest

from chat.models import Conversation, Message, RefusedPost


@pytest.fixture
def conversation(alice):
    return Conversation.begin(alice)


def answered(conversation, text, parent=None):
    reply = conversation.post(parent=parent, text=text, client_id=uuid4()).reply
    reply.finish(Message.Status.COMPLETE, text=f"to {text}")
    return reply


def texts(conversation, leaf=None):
    return [message.text for message in conversation.branch(leaf)]


def test_the_branch_runs_from_the_first_message_to_the_head(conversation):
    assert conversation.branch() == []
    one = answered(conversation, "one")
    two = answered(conversation, "two", one.pk)
    answered(conversation, "other", one.pk)
    assert texts(conversation) == ["one", "to one", "other", "to other"]
    assert texts(conversation, two.pk) == ["one", "to one", "two", "to two"]
    assert conversation.path(one.pk) == [one.parent_id, one.pk]


def test_retry_puts_another_reply_beside_the_old_one(conversation):
    old = answered(conversation, "one")
    client_id = uuid4()
    posted = conversation.retry(old, client_id=client_id)
    assert (posted.reply.parent_id, posted.created) == (old.parent_id, True)
    conversation.refresh_from_db()
    assert conversation.head == posted.reply
    assert conversation.retry(old, client_id=client_id).reply == posted.reply
    with pytest.raises(RefusedPost, match="being written"):
        conversation.retry(old, client_id=uuid4())
    assert Message.objects.filter(pk=old.pk, text="to one").exists()


def test_show_takes_the_newest_branch_through_a_message(conversation):
    one = answered(conversation, "one")
    two = answered(conversation, "two", one.pk)
    three = answered(conversation, "three", one.pk)
    other = answered(conversation, "elsewhere")
    assert conversation.show(one.pk) == three.pk
    assert conversation.show(two.parent_id) == two.pk
    assert conversation.show(other.pk) == other.pk
    conversation.refresh_from_db()
    assert conversation.head == other


def test_show_knows_no_message_of_another_conversation(conversation, bob):
    theirs = answered(Conversation.begin(bob), "theirs")
    with pytest.raises(RefusedPost) as refused:
        conversation.show(theirs.pk)
    assert refused.value.code == "unknown_message"


def test_only_an_active_owner_sees_a_conversation(conversation, alice, bob, owner):
    from django.contrib.auth.models import AnonymousUser

    seen = Conversation.objects.visible_to
    assert list(seen(alice)) == [conversation]
    assert not seen(bob).exists()
    assert not seen(owner).exists()
    assert not seen(AnonymousUser()).exists()
    alice.is_active = False
    assert not seen(alice).exists()
