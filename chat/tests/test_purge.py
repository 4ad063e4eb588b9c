"""After forgetting or deleting and a purge, no byte of it is in the database's files, as text or as indexed words."""

import os
import sqlite3
from uuid import uuid4

import pytest
from asgiref.sync import async_to_sync
from django.core.management import CommandError, call_command
from django.db import connection
from django.urls import reverse

from chat import runtime
from chat.memory import Keeper, prompt_for, purging, purging_sqlite, search
from chat.models import Conversation, Fact, Message, Vector, title_from
from chat.services import purging as background
from chat.services import remembering
from chat.tests.memory.fakes import ask, fake, in_thread, long_talk

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.sqlite]
WORD = "Zyxquolian"
VECTOR = os.urandom(768)


@pytest.fixture
def model(monkeypatch):
    model = fake(RuntimeError("no"))
    monkeypatch.setattr(runtime, "chat_model", lambda: model)
    return model


def tell(owner, conversation=None):
    """A message and its reply with the canary in every place that takes text; returns the message."""
    conversation = conversation or Conversation.make(owner)
    posted = conversation.post(
        parent=conversation.head_id, text=f"My {WORD}-question is long. " * 400, client_id=uuid4()
    )
    for size in range(1, 30):  # as a reply grows and is saved each second
        posted.reply.save_progress(f"{WORD} answers. " * 40 * size, f"{WORD} thinks. " * 20 * size)
    posted.reply.finish("complete", error=WORD, token_ids=WORD.encode(), text=f"{WORD} it is. " * 900)
    Fact.objects.create(owner=owner, text=f"I am {WORD}.", source=posted.message)
    Vector.objects.create(message=posted.message, fingerprint="f", values=VECTOR)
    conversation.summaries.create(covers_until=posted.reply, text=f"User: {WORD}.\n" * 50, author="extract")
    search.add_missing(conversation.pk)
    return posted.message


def fill(owner, model):
    """Others' talk around it, so that rows share pages and move between them."""
    for _ in range(6):
        leaf = long_talk(owner, 8)
        search.add_missing(leaf.conversation_id)
        async_to_sync(Keeper().after_reply)(leaf.conversation_id, leaf.pk, model)


def found():
    """Which traces of the canary are in which of the files."""
    traces = {"text": WORD.encode(), "words": WORD.casefold().encode(), "stem": b"zyxquol", "vector": VECTOR[100:140]}
    return {
        (path.name.rsplit("sqlite3")[-1], name)
        for path in purging_sqlite.files()
        for name, trace in traces.items()
        if trace in path.read_bytes()
    }


def test_it_is_there_before(alice, model):
    tell(alice)
    assert {name for _, name in found()} == {"text", "words", "stem", "vector"}


def test_forgetting_and_a_purge_leave_nothing(alice, bob, model):
    fill(bob, model)
    message = tell(alice)
    assert Conversation.objects.get(pk=message.conversation_id).title.startswith(f"My {WORD}")
    fill(bob, model)
    remembering.forget(message.conversation_id, alice.pk, message=message.pk, with_answers=True)
    call_command("purge", verbosity=0)
    assert found() == set()
    assert Message.objects.filter(conversation__owner=bob).count() == 12 * 16


def test_one_of_many_messages_is_forgotten_and_its_neighbours_stay(alice, bob, model):
    talk = long_talk(alice).conversation
    Conversation.objects.filter(pk=talk.pk).update(head=talk.messages.last(), title="Mine")
    talk.refresh_from_db()
    message = tell(alice, talk)
    leaf = long_talk(alice, after=message.children.get(), conversation=talk)
    async_to_sync(Keeper().after_reply)(talk.pk, leaf.pk, model)
    async_to_sync(prompt_for)(ask(leaf, f"What about {WORD[:4]}?"), model)
    Message.objects.filter(status="queued").update(status="stopped")
    remembering.forget(talk.pk, alice.pk, message=message.pk, with_answers=True)
    call_command("purge", verbosity=0)
    assert found() == set()
    assert talk.messages.filter(text="").count() == 3


def test_deleting_a_conversation_and_a_purge_leave_nothing(alice, bob, model):
    fill(bob, model)
    message = tell(alice)
    fill(bob, model)
    remembering.delete(message.conversation_id, alice.pk)
    Fact.objects.all().delete()
    call_command("purge", verbosity=0)
    assert found() == set()


def test_deleting_a_person_in_the_panel_and_a_purge_leave_nothing(client, owner, alice, bob, model):
    fill(bob, model)
    message = tell(alice)
    fill(bob, model)
    client.force_login(owner, backend="django.contrib.auth.backends.ModelBackend")
    client.post(reverse("admin:accounts_user_delete", args=[alice.pk]), {"post": "yes"})
    assert not Conversation.objects.filter(owner=alice.pk).exists()
    assert str(message.conversation_id) in model.forgotten
    call_command("purge", verbosity=0)
    assert found() == set()


async def test_soon_after_it_the_log_is_empty_and_the_index_merged(alice, bob, model, monkeypatch):
    monkeypatch.setattr(background, "PAUSE", 0)
    await in_thread(fill)(bob, model)
    message = await in_thread(tell)(alice)
    await remembering.forget_now(message.conversation_id, alice.pk, message=message.pk, with_answers=True)
    await background._purger._task
    assert await in_thread(found)() == set()
    assert all(path.stat().st_size == 0 for path in purging_sqlite.files() if path.name.endswith("-wal"))


async def test_while_somebody_reads_it_is_tried_again(alice, model, monkeypatch):
    monkeypatch.setattr(background, "PAUSE", 0)
    monkeypatch.setattr(background, "TRY_AGAIN", (0,))
    message = await in_thread(tell)(alice)
    reader = sqlite3.connect(connection.settings_dict["NAME"], isolation_level=None, check_same_thread=False)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM chat_message").fetchone()
    tries, purge = [], purging.purge

    def purged():
        tries.append(purge())
        if len(tries) == 2:
            reader.close()
        return tries[-1]

    monkeypatch.setattr(background, "purge", purged)
    await remembering.delete_now(message.conversation_id, alice.pk)
    await background._purger._task
    assert [done.is_complete for done in tries] == [False, False, True]


def test_the_command_says_what_it_did_and_what_it_cannot_reach(alice, model, capsys):
    tell(alice)
    call_command("purge")
    told = capsys.readouterr().out
    assert "wrote the database anew" in told
    assert "write-ahead log is empty" in told
    assert "backups" in told


def test_the_command_fails_while_somebody_keeps_reading(alice, model):
    tell(alice)
    reader = sqlite3.connect(connection.settings_dict["NAME"], isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM chat_message").fetchone()
    try:
        with pytest.raises(CommandError, match="kept reading"):
            call_command("purge", wait=0)
    finally:
        reader.close()


def test_what_was_written_about_a_message_while_it_was_forgotten_goes_too(alice, model):
    message = tell(alice)
    remembering.forget(message.conversation_id, alice.pk, message=message.pk, with_answers=True)
    Vector.objects.create(message=message, fingerprint="f", values=VECTOR)
    Fact.objects.create(owner=alice, text=title_from(WORD), source=message)
    assert purging.purge().num_leftovers == 2
    assert found() == set()
