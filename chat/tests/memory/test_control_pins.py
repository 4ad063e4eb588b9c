"""A pinned message stays verbatim, within a share of the context, and never keeps another message from an answer."""

from dataclasses import replace

import pytest
from asgiref.sync import async_to_sync

from chat import runtime
from chat.memory import Keeper, check_fits, prompt_for
from chat.memory.budget import Budget, MessageTooLong
from chat.memory.prompt import Notes, build, ids, within_share
from chat.models import Message, RefusedPost
from chat.services import remembering
from chat.tests.memory.counting import count, layout_of, talk
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
    leaf.conversation.head = leaf
    leaf.conversation.save()
    return leaf


def pin(leaf, message, pinned=True):
    remembering.pin(leaf.conversation_id, leaf.conversation.owner_id, message=message, pinned=pinned)


def test_a_pinned_message_is_shown_as_it_was_said_after_it_was_summarised(leaf, model):
    path = leaf.conversation.path()
    pin(leaf, path[0])
    async_to_sync(Keeper().after_reply)(leaf.conversation_id, leaf.pk, model)
    prompt = async_to_sync(prompt_for)(ask(leaf), model)
    parts = {part.kind: part.messages for part in prompt.parts}
    assert parts["pinned"] == (path[0],)
    assert "> User: My dog is called Rex and he is 5 years old." in prompt.messages[2].text
    assert path[0] not in parts["summary"]
    seen = remembering.look(leaf.conversation_id, leaf.conversation.owner_id)
    assert [row.pk for row in seen.pinned] == [path[0]]
    assert path[0] not in [row.pk for row in seen.covered]
    pin(leaf, path[0], pinned=False)
    prompt = async_to_sync(prompt_for)(ask(leaf), model)
    assert {part.kind: part.messages for part in prompt.parts}["summary"][0] == path[0]


def test_more_than_their_share_cannot_be_pinned(leaf, model):
    long = leaf.conversation.messages.get(pk=leaf.conversation.path()[-3])
    Message.objects.filter(pk=long.pk).update(text="word " * 100)
    pin(leaf, long.pk)
    Message.objects.filter(pk=leaf.pk).update(text="word " * 20)
    with pytest.raises(RefusedPost, match=r"would have 1[34]\d tokens; 120 are kept"):
        pin(leaf, leaf.pk)
    assert list(Message.objects.filter(pinned=True)) == [long]


@pytest.mark.parametrize("status", ["streaming", "failed", "forgotten"])
def test_only_what_has_a_text_can_be_pinned(leaf, model, status):
    Message.objects.filter(pk=leaf.pk).update(status=status, text="")
    with pytest.raises(RefusedPost) as refused:
        pin(leaf, leaf.pk)
    assert refused.value.code == "cannot_pin"


def test_only_what_is_shown_can_be_pinned(leaf, alice, bob, model):
    elsewhere = converse(alice, "Hi?", "Hi.", conversation=leaf.conversation)
    foreign = converse(bob, "Hi?", "Hi.")
    for message in (elsewhere, foreign):
        with pytest.raises(RefusedPost) as refused:
            pin(leaf, message.pk)
        assert refused.value.code == "unknown_message"
    with pytest.raises(RefusedPost):
        pin(leaf, foreign.pk, pinned=False)


async def test_pins_count_when_a_message_is_checked(alice, model):
    last = await in_thread(converse)(alice, "word " * 80, "Two.")
    await Message.objects.filter(pk=last.parent_id).aupdate(pinned=True)
    with pytest.raises(MessageTooLong) as refused:
        await check_fits(last.conversation, last.pk, "word " * 400, model)
    assert refused.value.needed == 400
    fitting = refused.value.available
    await check_fits(last.conversation, last.pk, "word " * fitting, model)
    prompt = await prompt_for(await in_thread(ask)(last, "word " * fitting), model)
    assert prompt.num_tokens <= 480
    assert sum("word " * 80 in message.text for message in prompt.messages[:-1]) == 1


def test_after_a_change_to_a_smaller_context_the_newest_pins_stay(model):
    budget = Budget.of(512, 1024)
    turns = talk(*["A pinned message with some words in it, nine. " * 3] * 8)
    layout = layout_of(turns[6:])
    pins = frozenset(range(1, 8))
    layout = replace(layout, pinned=turns[:6], pins=pins, notes=Notes("Notes.", (), 7))
    kept = within_share(layout, budget, count)
    assert kept.pins == frozenset({6, 7})
    assert (ids(kept.pinned), kept.notes.messages) == ((6,), (1, 2, 3, 4, 5))
    prompt = build(layout, budget, count)
    assert sorted(pk for part in prompt.parts for pk in part.messages) == [*range(1, 9), 1008 - 6]
