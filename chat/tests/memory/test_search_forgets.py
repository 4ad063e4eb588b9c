"""The index follows the messages: finished ones come in, deleted, forgotten and changed ones are out at once."""

import importlib

import pytest
from django.db import connection

from chat.memory import search, search_sqlite
from chat.models import Message, Vector
from chat.tests.memory.fakes import ask, converse

pytestmark = pytest.mark.django_db


def found(message, word="tulip"):
    search.add_missing(message.conversation_id)
    return {pk for pk, _ in search.find(message.conversation_id, [word])[word]}


def num_indexed():
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM chat_search")
        return cursor.fetchone()[0]


@pytest.fixture
def reply(alice):
    """The answer to a message about a tulip, both in the index."""
    reply = converse(alice, "A tulip.", "How nice.")
    assert found(reply) == {reply.parent_id}
    return reply


def test_each_message_comes_in_once(reply):
    assert search.add_missing(reply.conversation_id) == 0
    assert num_indexed() == 2


def test_a_reply_comes_in_when_it_has_ended(reply):
    later = ask(reply)
    later.save_progress("A tulip is", "")
    assert later.pk not in found(later)
    later.finish(Message.Status.COMPLETE, text="A tulip is a flower.")
    assert later.pk in found(later)


def test_a_deleted_message_is_out(reply):
    reply.parent.delete()
    assert num_indexed() == 0


def test_everything_of_a_deleted_person_is_out(reply, alice):
    alice.delete()
    assert num_indexed() == 0


def test_a_forgotten_message_is_out_with_its_vector(reply):
    Vector.objects.create(message=reply.parent, fingerprint="x", values=b"1234")
    Message.objects.filter(pk=reply.parent_id).update(status="forgotten", text="")
    assert found(reply) == set()
    assert num_indexed() == 1
    assert not Vector.objects.exists()


def test_a_changed_message_is_found_by_its_new_words(reply):
    Message.objects.filter(pk=reply.parent_id).update(text="A rose.")
    assert found(reply) == set()
    assert found(reply, "rose") == {reply.parent_id}


def test_other_changes_leave_the_index_alone(reply):
    Message.objects.filter(pk=reply.parent_id).update(pinned=True)
    assert search.add_missing(reply.conversation_id) == 0


@pytest.mark.sqlite
def test_deleted_words_leave_the_index_itself(reply):
    def pages():
        with connection.cursor() as cursor:
            cursor.execute("SELECT block FROM chat_search_data")
            return b"".join(block for (block,) in cursor.fetchall())

    assert b"tulip" in pages()
    reply.parent.delete()
    search_sqlite.compact()
    assert b"tulip" not in pages()


@pytest.mark.sqlite
def test_the_triggers_are_there_after_all_migrations():
    migration = importlib.import_module("chat.migrations.0003_search")
    with connection.cursor() as cursor:
        cursor.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")
        assert {name for (name,) in cursor.fetchall()} >= set(migration._TRIGGERS)
