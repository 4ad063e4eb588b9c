"""A reply goes from queued over streaming to one end, and the database holds what must always be true of it."""

from uuid import uuid4

import pytest
from django.db import IntegrityError, transaction

from chat.models import Conversation, Message


@pytest.fixture
def conversation(alice):
    return Conversation.begin(alice)


@pytest.fixture
def reply(conversation):
    return conversation.post(parent=None, text="hi", client_id=uuid4()).reply


def stored(reply):
    return Message.objects.get(pk=reply.pk)


def test_progress_is_kept_and_marks_it_as_being_written(reply):
    assert reply.save_progress("so far", "hm")
    kept = stored(reply)
    assert (kept.text, kept.reasoning, kept.status, kept.is_unfinished) == ("so far", "hm", "streaming", True)


def test_a_reply_ends_once(reply):
    assert reply.finish(Message.Status.COMPLETE, text="all", usage={"total_ms": 1})
    assert not reply.finish(Message.Status.STOPPED, text="other")
    kept = stored(reply)
    assert (kept.text, kept.status, kept.usage, kept.is_unfinished) == ("all", "complete", {"total_ms": 1}, False)
    assert kept.finished_at is not None
    assert (reply.text, reply.status) == ("all", "complete")


def test_progress_after_the_end_changes_nothing(reply):
    reply.finish(Message.Status.STOPPED, text="all")
    assert not stored(reply).save_progress("less", "")
    assert (stored(reply).text, stored(reply).status) == ("all", "stopped")


def test_progress_of_what_is_gone_is_told(conversation, reply):
    conversation.delete()
    assert not Message(pk=reply.pk).save_progress("so far", "")


def test_what_an_earlier_process_left_is_interrupted_with_its_text(conversation, reply):
    reply.save_progress("so far", "")
    done = conversation.post(parent=None, text="other", client_id=uuid4()).reply
    done.finish(Message.Status.COMPLETE, text="done")
    assert Message.interrupt_unfinished() == 1
    assert (stored(reply).text, stored(reply).status) == ("so far", "interrupted")
    assert stored(reply).finished_at is not None
    assert stored(done).status == "complete"


@pytest.mark.parametrize(
    "fields",
    [
        {"role": "user", "status": "complete", "text": ""},
        {"role": "user", "status": "streaming", "text": "x"},
        {"role": "assistant", "status": "complete", "parent": None},
        {"role": "system", "status": "complete", "text": "x"},
        {"role": "assistant", "status": "lost"},
        {"role": "assistant", "status": "queued"},
    ],
)
def test_the_database_refuses_what_cannot_be(conversation, reply, fields):
    fields = {"parent": reply.parent} | fields
    with pytest.raises(IntegrityError), transaction.atomic():
        conversation.messages.create(**fields)


def test_a_client_id_is_used_once_in_a_conversation(conversation, reply):
    with pytest.raises(IntegrityError), transaction.atomic():
        conversation.messages.create(role="user", status="complete", text="again", client_id=reply.parent.client_id)


def test_its_name_does_not_tell_what_it_says(reply):
    assert str(reply.parent) == f"user message {reply.parent.pk}"
