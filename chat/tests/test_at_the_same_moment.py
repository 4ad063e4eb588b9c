"""What several do at the same moment ends as if one had done it after the other, whatever the database."""

import threading
from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import numpy as np
import pytest
from django.core.management import call_command
from django.db import IntegrityError, connection

from accounts.models import AlreadyAccepted, Invitation, User
from chat.memory import facts, forgetting, search, vectors
from chat.memory.branch import read_past, store
from chat.models import Conversation, Fact, Message, RefusedPost, Vector
from chat.services import posting
from chat.tests.memory.fakes import ask, converse

pytestmark = pytest.mark.django_db(transaction=True)
AT_ONCE = 6


def together(*works):
    """Do all of it in threads that begin together, each with a connection of its own; what came of each."""
    begin = threading.Barrier(len(works))

    def do(work):
        try:
            begin.wait(timeout=10)
            return work()
        except (RefusedPost, AlreadyAccepted, IntegrityError) as error:
            return error
        finally:
            connection.close()

    with ThreadPoolExecutor(len(works)) as threads:
        return [done.result(timeout=60) for done in [threads.submit(do, work) for work in works]]


@pytest.fixture
def talk(alice):
    """Her finished turn about a tulip, nothing made of it yet."""
    alice.remembers_facts = True
    alice.save()
    return converse(alice, "My favourite flower is the tulip, and I live in Oslo.", "I will remember the tulip.")


def fresh(row):
    return Conversation.objects.get(pk=row.conversation_id)


def test_one_client_id_gives_one_message_and_one_reply(talk):
    client_id = uuid4()

    def send():
        here = fresh(talk)
        return posting._register(lambda: here.post(parent=talk.pk, text="Hello", client_id=client_id), here)

    done = together(*[send] * AT_ONCE)
    assert len({(posted.message.pk, posted.reply.pk) for posted in done}) == 1
    assert [posted.created for posted in done].count(True) == 1
    assert talk.conversation.messages.count() == 4


def test_one_retry_of_several_begins(talk):
    done = together(*[lambda: fresh(talk).retry(talk, client_id=uuid4())] * AT_ONCE)
    assert sum(isinstance(one, RefusedPost) for one in done) == AT_ONCE - 1
    assert talk.conversation.messages.filter(status="queued").count() == 1


def test_messages_after_one_reply_become_branches_and_one_is_shown(talk):
    posts = [lambda: fresh(talk).post(parent=talk.pk, text="Hello", client_id=uuid4())] * AT_ONCE
    done = together(*posts)
    assert sorted(posted.branched for posted in done) == [False] + [True] * (AT_ONCE - 1)
    assert fresh(talk).head_id in {posted.reply.pk for posted in done}


def test_of_several_summaries_of_the_same_turns_one_is_stored(talk):
    branch = read_past(talk.conversation_id, talk.pk, "f")
    done = together(*[lambda: store(branch, 2, text="Notes.", author="extract", model="")] * AT_ONCE)
    assert [row is None for row in done].count(False) == 1
    assert talk.conversation.summaries.count() == 1


def test_a_fact_that_is_told_in_several_places_is_kept_once(alice, talk):
    leaves = [converse(alice, "I live in Bergen by now.", "Noted.") for _ in range(AT_ONCE)]
    together(*[lambda leaf=leaf: facts.learn(leaf.conversation_id, leaf.pk) for leaf in leaves])
    assert Fact.objects.count() == 1


@pytest.mark.parametrize("turn", range(4))
def test_what_is_forgotten_meanwhile_leaves_nothing(alice, talk, turn):
    message = talk.parent
    branch = read_past(talk.conversation_id, talk.pk, "f")
    computed = [(row.pk, row.text) for row in (message, talk)]
    meaning = np.ones((2, 4), np.float32)
    works = [
        lambda: forgetting.forget(fresh(talk), message.pk, with_answers=True),
        lambda: search.add_missing(talk.conversation_id),
        lambda: vectors._store(talk.conversation_id, computed, meaning, "f"),
        lambda: facts.learn(talk.conversation_id, talk.pk),
        lambda: store(branch, 2, text="The tulip.", author="extract", model=""),
        lambda: search.add_missing(talk.conversation_id),
    ]
    together(*works[turn:], *works[:turn])
    search.add_missing(talk.conversation_id)
    assert search.find(talk.conversation_id, ["tulip"]) == {"tulip": set()}
    assert not Vector.objects.exists()
    assert not Fact.objects.exists()
    assert not talk.conversation.summaries.exists()
    assert set(talk.conversation.messages.values_list("status", "text")) == {("forgotten", "")}


def test_forgetting_and_asking_on_exclude_each_other(talk):
    done = together(
        lambda: forgetting.forget(fresh(talk), talk.parent_id, with_answers=True),
        lambda: fresh(talk).post(parent=talk.pk, text="And now?", client_id=uuid4()),
    )
    if isinstance(done[0], RefusedPost):  # the reply that knows the message was there first
        assert talk.conversation.messages.filter(status="queued").exists()
    else:
        assert not talk.conversation.messages.filter(status="forgotten").exclude(text="").exists()


def test_a_conversation_that_is_deleted_meanwhile_is_gone_with_everything(talk):
    before = ask(talk)
    before.finish(Message.Status.COMPLETE, text="A tulip.")
    done = together(
        lambda: fresh(talk).delete(),
        lambda: Conversation(pk=talk.conversation_id).post(parent=talk.pk, text="Hello", client_id=uuid4()),
        lambda: search.add_missing(talk.conversation_id),
        lambda: facts.learn(talk.conversation_id, talk.pk),
    )
    assert not isinstance(done[0], Exception)
    assert not Message.objects.exists()
    assert not Fact.objects.exists()
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM chat_search")
        assert cursor.fetchone()[0] == 0


def test_a_link_makes_one_account():
    invitation, _ = Invitation.issue()
    people = [User(username=f"guest{number}") for number in range(AT_ONCE)]
    together(*[lambda person=person: Invitation.objects.get(pk=invitation.pk).accept(person) for person in people])
    assert User.objects.count() == 1


def test_several_starts_make_one_owner(settings):
    settings.OWNER_USERNAME, settings.OWNER_PASSWORD = "olivia", "correct horse battery"
    done = together(*[lambda: call_command("ensure_owner", verbosity=0)] * AT_ONCE)
    assert done == [None] * AT_ONCE
    assert User.objects.filter(is_superuser=True).count() == 1


def test_several_starts_leave_one_link_for_the_owner():
    together(*[lambda: call_command("ensure_owner", address="http://localhost", verbosity=0)] * AT_ONCE)
    assert Invitation.objects.usable().filter(role="owner").count() == 1
