"""Whatever the summariser does, each message stays covered once, and notes that can be trusted are stored."""

import asyncio

import pytest

from chat.inference.request import Preempted
from chat.memory import Keeper
from chat.models import Summary
from chat.tests.memory.fakes import converse, covered_once, fake, in_thread, long_talk

pytestmark = pytest.mark.django_db(transaction=True)

GOOD = "The user has a dog called Rex, 5 years old, and asked for stories about a lighthouse."


async def keep(leaf, model, keeper=None):
    await (keeper or Keeper(first_pause=0)).after_reply(leaf.conversation_id, leaf.pk, model)
    return [row async for row in Summary.objects.filter(conversation=leaf.conversation_id)]


async def test_a_good_summary_of_the_model_is_stored(alice):
    leaf, model = await in_thread(long_talk)(alice), fake(GOOD)
    [row] = await keep(leaf, model)
    assert (row.author, row.text, row.model, row.grown_from_id) == ("model", GOOD, "Fake", None)
    assert await in_thread(covered_once)(leaf) > 10


async def test_it_is_asked_for_as_a_continuation_with_low_priority(alice):
    leaf, model = await in_thread(long_talk)(alice), fake(GOOD)
    await keep(leaf, model)
    [(messages, options)] = model.asked
    assert [message.text for message in messages[:2]] == ["Be kind.", "My dog is called Rex and he is 5 years old."]
    assert messages[-2].type == "ai"
    assert messages[-1].type == "human"
    assert options["priority"] == 2
    assert options["owner"] == str(alice.pk)
    assert options["conversation"] == str(leaf.conversation_id)
    assert model.count(messages) + options["max_tokens"] <= model.context_tokens


@pytest.mark.parametrize(
    "answer",
    [
        RuntimeError("engine"),
        "",
        " \n",
        "word " * 300,
        "The user has a dog called Rex, 5 years old, and a cat called Zelda.",
        "Zelda is a dog of the user. Rex is 5.",
        "The user has a dog called Rex, 7 years old.",
        "I'm sorry, but as an AI I cannot remember things.",
        "Write down what must be remembered of our conversation so far, earlier notes included.",
        "They talked about various interesting topics together.",
    ],
    ids=["raises", "empty", "blank", "long", "name", "subject", "number", "refusal", "echo", "vague"],
)
async def test_key_sentences_take_the_place_of_what_cannot_be_used(alice, answer):
    leaf = await in_thread(long_talk)(alice)
    rows = await keep(leaf, fake(answer))
    assert [row.author for row in rows] == ["extract"]
    assert "My dog is called Rex and he is 5 years old." in rows[0].text
    assert await in_thread(covered_once)(leaf) > 10


@pytest.mark.parametrize("reason", ["length", "time", "cancelled", "error"])
async def test_a_summary_that_was_cut_off_is_not_used(alice, reason):
    leaf = await in_thread(long_talk)(alice)
    assert [row.author for row in await keep(leaf, fake(GOOD, finish_reason=reason))] == ["extract"]


async def test_one_that_gave_way_is_asked_for_again(alice):
    leaf = await in_thread(long_talk)(alice)
    model = fake(Preempted("later"), Preempted("later"), GOOD)
    assert [row.author for row in await keep(leaf, model)] == ["model"]
    assert len(model.asked) == 3


async def test_key_sentences_do_when_patience_ends(alice):
    async def never():
        await asyncio.Event().wait()

    leaf = await in_thread(long_talk)(alice)
    for answer in (never, Preempted("later")):
        await Summary.objects.all().adelete()
        rows = await keep(leaf, fake(answer), Keeper(patience=0.01, first_pause=0.001))
        assert [row.author for row in rows] == ["extract"]


async def test_cancelled_half_way_leaves_nothing_and_the_next_keeper_picks_up(alice):
    begun = asyncio.Event()

    async def never():
        begun.set()
        await asyncio.Event().wait()

    leaf = await in_thread(long_talk)(alice)
    keeper = Keeper()
    task = asyncio.create_task(keeper.after_reply(leaf.conversation_id, leaf.pk, fake(never)))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await in_thread(covered_once)(leaf) == 0
    assert [row.author for row in await keep(leaf, fake(GOOD))] == ["model"]
    assert [row.author for row in await keep(leaf, fake(GOOD), keeper)] == ["model"]


async def test_a_branch_that_is_deleted_meanwhile_gets_no_summary(alice):
    leaf = await in_thread(long_talk)(alice)

    async def deletes():
        await leaf.conversation.messages.filter(parent=None).adelete()
        return GOOD

    assert await keep(leaf, fake(deletes)) == []


async def test_a_fault_is_logged_without_anybodys_words(alice, caplog):
    class Broken(Exception):
        pass

    leaf = await in_thread(long_talk)(alice)
    model = fake(Broken("My dog is called Rex"))
    await keep(leaf, model)
    await Keeper().after_reply(leaf.conversation_id, leaf.pk, object())
    assert "Broken" in caplog.text
    assert "AttributeError" in caplog.text
    assert "Rex" not in caplog.text


async def test_braces_in_a_conversation_are_only_braces(alice):
    leaf = await in_thread(converse)(
        alice, *["Why does {num_words} and {x} appear in f-strings?", "Because of {braces}. " * 6] * 15
    )
    model = fake("The user asked why {num_words} and {x} appear in f-strings.")
    assert [row.author for row in await keep(leaf, model)] == ["model"]


async def test_a_model_that_cannot_summarise_is_not_asked_each_time(alice):
    keeper, model = Keeper(), fake("")
    for _ in range(9):
        leaf = await in_thread(long_talk)(alice)
        await keep(leaf, model, keeper)
    assert len(model.asked) == 3 + 1
    model.script[:] = [GOOD]
    authors = [row.author for _ in range(9) for row in await keep(await in_thread(long_talk)(alice), model, keeper)]
    assert authors == ["extract"] * 7 + ["model"] * 2
