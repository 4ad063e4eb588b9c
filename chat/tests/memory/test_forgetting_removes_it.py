"""A forgotten message is in no prompt, summary, index, fact or title, and everybody who looks at it is told."""

from uuid import uuid4

import pytest
from asgiref.sync import async_to_sync

from chat import runtime
from chat.memory import Keeper, forgetting, prompt_for
from chat.memory.branch import read_past, store
from chat.models import Conversation, Fact, Message, RefusedPost, Summary, Vector, title_from
from chat.services import remembering
from chat.tests.memory.fakes import ask, converse, fake, in_thread, long_talk

pytestmark = pytest.mark.django_db(transaction=True)
SECRET = "My dog is called Rex and he is 5 years old."


@pytest.fixture
def model(monkeypatch):
    model = fake(RuntimeError("no"))
    monkeypatch.setattr(runtime, "chat_model", lambda: model)
    return model


@pytest.fixture
def leaf(alice):
    leaf = long_talk(alice)
    Conversation.objects.filter(pk=leaf.conversation_id).update(head=leaf, title=title_from(SECRET))
    leaf.conversation.refresh_from_db()
    return leaf


def forget(leaf, message, with_answers=False):
    return remembering.forget(
        leaf.conversation_id, leaf.conversation.owner_id, message=message, with_answers=with_answers
    )


def fold(leaf, model):
    async_to_sync(Keeper().after_reply)(leaf.conversation_id, leaf.pk, model)
    return Summary.objects.latest("id")


def test_nothing_is_left_of_it_but_its_place(leaf, model):
    first, answer = leaf.conversation.path()[:2]
    Message.objects.filter(pk=first).update(pinned=True, client_id=uuid4(), sent={"parts": []})
    Message.objects.filter(pk=answer).update(reasoning="Rex?", error="Rex!", token_ids=b"1234", fingerprint="f")
    Vector.objects.create(message_id=first, fingerprint="f", values=b"12")
    Fact.objects.create(owner=leaf.conversation.owner, text=SECRET, source_id=first)
    assert forget(leaf, first, with_answers=True) == [first, answer]
    for row in Message.objects.filter(pk__in=[first, answer]):
        assert (row.status, row.text, row.reasoning, row.error) == ("forgotten", "", "", "")
        assert (bytes(row.token_ids), row.fingerprint, row.sent, row.pinned) == (b"", "", {}, False)
    assert Message.objects.get(pk=first).client_id
    assert not Vector.objects.exists()
    assert not Fact.objects.exists()
    assert leaf.conversation.path()[:2] == [first, answer]
    assert forget(leaf, first, with_answers=True) == []


def test_only_that_message_goes_without_its_answers(leaf, model):
    first, answer = leaf.conversation.path()[:2]
    assert forget(leaf, first) == [first]
    assert Message.objects.get(pk=answer).text == "What a lovely dog!"


def test_every_summary_that_covers_it_and_what_grew_from_them_goes(leaf, model):
    talk, path = leaf.conversation, leaf.conversation.path()
    before = talk.summaries.create(covers_until_id=path[1], text="User: A dog.", author="extract")
    covering = talk.summaries.create(covers_until_id=path[9], grown_from=before, text="More.", author="model")
    edited = talk.summaries.create(covers_until_id=path[9], grown_from=covering, text="Mine.", author="person")
    elsewhere = converse(talk.owner, "Hi?", "Hi.", conversation=talk)
    other = talk.summaries.create(covers_until=elsewhere, text="Elsewhere.", author="extract")
    grown = talk.summaries.create(covers_until=elsewhere, grown_from=edited, text="Odd.", author="extract")
    forget(leaf, path[4])
    assert set(Summary.objects.all()) == {before, other}
    assert grown.pk not in Summary.objects.values_list("pk", flat=True)
    assert read_past(talk.pk, leaf.pk, "fake").layout.notes.summary == before.pk


async def test_no_prompt_holds_it_and_the_rest_is_summarised_anew(leaf, model):
    row = await in_thread(fold)(leaf, model)
    assert "Rex" in row.text
    first = (await in_thread(leaf.conversation.path)())[0]
    await in_thread(forget)(leaf, first, with_answers=True)
    again = await in_thread(fold)(leaf, model)
    assert "Rex" not in again.text
    assert again.grown_from_id is None
    prompt = await prompt_for(await in_thread(ask)(leaf, "What is my dog called?"), model)
    assert "Rex" not in " ".join(message.text for message in prompt.messages)
    assert first in [pk for part in prompt.parts for pk in part.messages]


async def test_a_summary_that_was_being_written_of_it_is_not_kept(leaf, model):
    branch = await in_thread(read_past)(leaf.conversation_id, leaf.pk, "fake")
    first, answer = (await in_thread(leaf.conversation.path)())[:2]
    await in_thread(forget)(leaf, first)
    assert await in_thread(store)(branch, 10, text="Rex.", author="model", model="") is None

    async def forgets():
        await in_thread(forget)(leaf, answer)
        return "The user has a dog called Rex, 5 years old, and asked for stories about a lighthouse."

    branch = await in_thread(read_past)(leaf.conversation_id, leaf.pk, "fake")
    await Keeper().after_reply(leaf.conversation_id, leaf.pk, fake(forgets, RuntimeError("no")))
    assert [row.author async for row in Summary.objects.all()] == ["extract"]


@pytest.mark.parametrize("later", ["And what do cats eat?", None])
def test_a_title_that_was_made_of_it_is_made_anew(alice, model, later):
    talk = Conversation.make(alice, title_from(SECRET))
    first = talk.messages.create(role="user", status="complete", text=SECRET)
    if later:
        talk.messages.create(role="user", status="complete", text=later)
    remembering.forget(talk.pk, alice.pk, message=first.pk, with_answers=True)
    talk.refresh_from_db()
    assert str(talk) == (later or "New chat")


def test_a_title_of_a_persons_own_stays(leaf, model):
    Conversation.objects.update(title="My pets")
    forget(leaf, leaf.conversation.path()[0])
    assert Conversation.objects.get().title == "My pets"


def test_caches_go_also_of_conversations_that_began_with_a_fact_from_it(leaf, model, alice):
    first = leaf.conversation.path()[0]
    fact = Fact.objects.create(owner=alice, text=SECRET, source_id=first)
    knowing, other = (Conversation.objects.create(owner=alice, facts=known) for known in ([fact.pk], []))
    forget(leaf, first)
    assert set(model.forgotten) == {str(leaf.conversation_id), str(knowing.pk)}
    assert str(other.pk) not in model.forgotten


def test_while_a_reply_is_written_that_knows_it_nothing_is_forgotten(leaf, model):
    running = ask(leaf)
    for message in (leaf.conversation.path()[0], running.parent_id, running.pk):
        with pytest.raises(RefusedPost) as refused:
            forget(leaf, message, with_answers=True)
        assert refused.value.code == "reply_running"
    assert not Message.objects.filter(status="forgotten").exists()
    elsewhere = converse(leaf.conversation.owner, "Hi?", "Hi.", conversation=leaf.conversation)
    assert forget(leaf, elsewhere.pk) == [elsewhere.pk]


def test_only_ones_own_messages_can_be_forgotten(leaf, model, bob):
    with pytest.raises(RefusedPost) as refused:
        remembering.forget(leaf.conversation_id, bob.pk, message=leaf.pk, with_answers=False)
    assert refused.value.code == "conversation_gone"
    foreign = converse(bob, "Hi?", "Hi.")
    with pytest.raises(RefusedPost) as refused:
        forget(leaf, foreign.pk)
    assert refused.value.code == "unknown_message"


def test_nothing_can_be_answered_anew_that_was_forgotten(leaf, model):
    forget(leaf, leaf.parent_id)
    with pytest.raises(RefusedPost, match="nothing left to answer"):
        leaf.conversation.retry(Message.objects.get(pk=leaf.pk), client_id=uuid4())


def test_half_of_it_never_happens(leaf, model, monkeypatch):
    row = fold(leaf, model)

    def breaks(*args):
        raise RuntimeError("power cut")

    monkeypatch.setattr(forgetting, "_retitled", breaks)
    with pytest.raises(RuntimeError):
        forget(leaf, leaf.conversation.path()[0])
    assert not Message.objects.filter(status="forgotten").exists()
    assert list(Summary.objects.all()) == [row]
