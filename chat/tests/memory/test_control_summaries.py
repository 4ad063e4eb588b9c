"""A person sees what is remembered, corrects it, goes back to an earlier version, and has it written when he wants."""

import asyncio
import uuid
from importlib import import_module

import pytest
from asgiref.sync import async_to_sync

from chat import memory, runtime
from chat.memory import Keeper, prompt_for
from chat.memory.branch import read_past
from chat.models import RefusedPost, Summary
from chat.services import remembering, writing
from chat.tests.memory.fakes import ask, converse, fake, in_thread, long_talk

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def model(monkeypatch):
    model = fake(RuntimeError("no"))
    monkeypatch.setattr(runtime, "chat_model", lambda: model)
    return model


@pytest.fixture
def leaf(alice):
    leaf = long_talk(alice)
    show(leaf)
    return leaf


def show(leaf):
    leaf.conversation.head = leaf
    leaf.conversation.save()


def place(leaf):
    return {"conversation": leaf.conversation_id, "owner": leaf.conversation.owner_id}


def fold(leaf, model):
    async_to_sync(Keeper().after_reply)(leaf.conversation_id, leaf.pk, model)
    return Summary.objects.latest("id")


def notes(leaf):
    return read_past(leaf.conversation_id, leaf.pk, "fake").layout.notes


def refusal(work, *args, **options):
    with pytest.raises(RefusedPost) as refused:
        work(*args, **options)
    return refused.value.code


def test_what_is_remembered_and_what_stands_verbatim_are_all_messages(leaf, model):
    row = fold(leaf, model)
    seen = remembering.look(**place(leaf))
    assert (seen.summary, seen.versions, seen.pinned) == (row, [row], [])
    assert seen.covered[0].text == "My dog is called Rex and he is 5 years old."
    assert len(seen.covered) + seen.num_verbatim == 28
    assert not seen.is_compacting


def test_the_gauge_shows_the_next_prompt(leaf, model):
    fold(leaf, model)
    gauge = remembering.look(**place(leaf)).gauge
    assert [kind for kind, _ in gauge.parts] == ["system", "summary", "turns", "message"]
    assert gauge.num_tokens <= gauge.high < gauge.prompt == gauge.context - gauge.reserve


def test_an_empty_conversation_and_a_missing_model_show_what_there_is(leaf, alice, monkeypatch):
    empty = leaf.conversation.make(alice)
    assert remembering.look(empty.pk, alice.pk).versions == []

    def unavailable():
        raise runtime.ModelUnavailable("no model")

    monkeypatch.setattr(runtime, "chat_model", unavailable)
    seen = remembering.look(**place(leaf))
    assert (seen.gauge, seen.can_compact, seen.num_verbatim) == (None, False, 28)
    assert refusal(remembering.pin, **place(leaf), message=leaf.pk, pinned=True) == "model_unavailable"


def test_a_corrected_summary_is_used_and_the_old_one_stays(leaf, model):
    old = fold(leaf, model)
    new = remembering.edit(**place(leaf), summary=old.pk, text=" The dog is called Max.\r\n")
    assert (new.text, new.author, new.grown_from, new.covers_until) == (
        "The dog is called Max.", "person", old, old.covers_until,
    )  # fmt: skip
    assert notes(leaf).text == "The dog is called Max."
    assert remembering.look(**place(leaf)).versions == [new, old]


def test_a_correction_that_cannot_be_used_is_refused(leaf, model):
    old = fold(leaf, model)
    here = place(leaf)
    assert refusal(remembering.edit, **here, summary=old.pk, text=" \u200b\n") == "empty_summary"
    with pytest.raises(RefusedPost, match=r"This has 5,\d\d\d tokens; a summary may have 120"):
        remembering.edit(**here, summary=old.pk, text="word " * 5000)
    remembering.edit(**here, summary=old.pk, text="Newer.")
    assert refusal(remembering.edit, **here, summary=old.pk, text="Late.") == "stale"
    assert Summary.objects.count() == 2


def test_an_earlier_version_is_used_again_and_the_later_ones_can_come_back(leaf, model):
    first = fold(leaf, model)
    late = long_talk(leaf.conversation.owner, after=leaf, conversation=leaf.conversation)
    show(late)
    second = fold(late, model)
    edited = remembering.edit(**place(late), summary=second.pk, text="Wrong.")
    assert second.grown_from == first
    for version in (first, second, edited, first):
        remembering.restore(**place(late), summary=version.pk)
        assert notes(late).summary == version.pk == remembering.look(**place(late)).summary.pk
    assert len(remembering.look(**place(late)).versions) == 3
    third = fold(late, model)
    assert third.grown_from == first
    assert notes(late).summary == third.pk


def test_a_summary_of_another_branch_is_left_alone(leaf, alice, model):
    elsewhere = converse(alice, "Hi?", "Hi.", conversation=leaf.conversation)
    row = leaf.conversation.summaries.create(covers_until=elsewhere, text="Elsewhere.", author="extract")
    assert remembering.look(**place(leaf)).versions == []
    for work in (remembering.restore, lambda **options: remembering.edit(text="x", **options)):
        assert refusal(work, **place(leaf), summary=row.pk) == "unknown_summary"


def test_nobody_else_sees_or_changes_anything(leaf, bob, model):
    row = fold(leaf, model)
    here = {"conversation": leaf.conversation_id, "owner": bob.pk}
    assert refusal(remembering.look, **here) == "conversation_gone"
    assert refusal(remembering.edit, **here, summary=row.pk, text="x") == "conversation_gone"
    assert refusal(remembering.restore, **here, summary=row.pk) == "conversation_gone"
    assert refusal(remembering.pin, **here, message=leaf.pk, pinned=True) == "conversation_gone"
    assert refusal(async_to_sync(remembering.compact), **here) == "conversation_gone"
    assert refusal(remembering.look, uuid.uuid4(), bob.pk) == "conversation_gone"


async def test_it_is_compacted_down_to_the_last_turn_at_a_persons_wish(alice, model):
    leaf = await in_thread(converse)(alice, *["My dog is called Rex, you know.", "Nice to hear that. " * 6] * 3)
    await in_thread(show)(leaf)
    here = place(leaf)
    assert (await in_thread(remembering.look)(**here)).can_compact
    assert await remembering.compact(**here)
    assert (await in_thread(remembering.look)(**here)).is_compacting
    assert not await remembering.compact(**here)
    await _all(writing._remembering)
    seen = await in_thread(remembering.look)(**here)
    assert (seen.num_verbatim, len(seen.covered), seen.can_compact, seen.is_compacting) == (2, 4, False, False)
    assert not await remembering.compact(**here)
    prompt = await prompt_for(await in_thread(ask)(leaf), model)
    assert [part.kind for part in prompt.parts] == ["system", "summary", "turns", "message"]


async def test_a_wish_while_a_reply_is_being_looked_at_is_not_lost(alice, model, monkeypatch):
    leaf = await in_thread(converse)(alice, *["My dog is called Rex, you know.", "Nice to hear that. " * 6] * 3)
    await in_thread(show)(leaf)
    keepers = import_module("chat.memory.keeper")
    read, looking, go = keepers._read, asyncio.Event(), asyncio.Event()

    async def slow(*args):
        looking.set()
        await go.wait()
        return await read(*args)

    monkeypatch.setattr(keepers, "_read", slow)
    after_reply = asyncio.create_task(memory.keeper.after_reply(leaf.conversation_id, leaf.pk, model))
    await looking.wait()
    assert await remembering.compact(**place(leaf))
    assert not await remembering.compact(**place(leaf))
    go.set()
    await after_reply
    await _all(writing._remembering)
    seen = await in_thread(remembering.look)(**place(leaf))
    assert (len(seen.covered), seen.is_compacting) == (4, False)


async def _all(tasks):
    for task in list(tasks):
        await task
