"""Over many turns: few summaries, each grown from the one before, one at a time, and facts that stay."""

import asyncio

import pytest

from chat.inference.request import Preempted
from chat.memory import Keeper, prompt_for
from chat.models import Message, Summary
from chat.tests.memory.fakes import ask, converse, covered_once, fake, in_thread, long_talk

pytestmark = pytest.mark.django_db(transaction=True)


async def talk_on(alice, num_turns, model, keeper, words=("Tell me more of it, please.", "So it went on and on.")):
    """Turn by turn as the server does it; yields each prompt."""
    leaf = await in_thread(converse)(alice, "My dog is called Rex.", "Good.")
    for turn in range(num_turns):
        reply = await in_thread(ask)(leaf, f"{words[0]} {'x' * turn}")
        prompt = await prompt_for(reply, model)
        yield prompt
        await in_thread(reply.finish)("complete", text=words[1])
        await keeper.after_reply(reply.conversation_id, reply.pk, model)
        leaf = reply


async def test_sixty_short_turns_in_a_context_of_512_tokens_never_overflow(alice):
    model = fake(RuntimeError("too weak"), context_tokens=512)
    prompts = [prompt async for prompt in talk_on(alice, 60, model, Keeper())]
    assert all(prompt.num_tokens <= 384 for prompt in prompts)
    assert all({"digest", "left_out"}.isdisjoint(part.kind for part in prompt.parts) for prompt in prompts)
    assert [part.kind for part in prompts[-1].parts] == ["system", "summary", "turns", "message"]
    assert "My dog is called Rex." in prompts[-1].messages[1].text


async def test_the_prefix_changes_only_with_the_summary_and_summaries_are_rare(alice):
    model, before = fake(RuntimeError("too weak"), context_tokens=1024), None
    async for prompt in talk_on(alice, 100, model, Keeper()):
        if before and before.parts[1].summary == prompt.parts[1].summary:
            assert prompt.messages[: len(before.messages)] == before.messages
        before = prompt
    rows = [row async for row in Summary.objects.all()]
    assert 2 <= len(rows) <= 10
    assert [row.grown_from_id for row in rows] == [None, *(row.pk for row in rows[:-1])]


async def test_a_long_backlog_is_read_in_portions(alice):
    leaf = await in_thread(long_talk)(alice, 60)
    model = fake("The user has a dog called Rex, 5 years old, and asked for stories about a lighthouse.")
    await Keeper().after_reply(leaf.conversation_id, leaf.pk, model)
    rows = [row async for row in Summary.objects.all()]
    assert len(rows) > 3
    assert {row.author for row in rows} == {"model"}
    assert all(model.count(messages) + options["max_tokens"] <= 640 for messages, options in model.asked)
    assert await in_thread(covered_once)(leaf) > 100
    await Keeper().after_reply(leaf.conversation_id, leaf.pk, model)
    assert await Summary.objects.acount() == len(rows)


async def test_before_the_backlog_is_read_a_digest_stands_for_it(alice):
    leaf = await in_thread(long_talk)(alice, 60)
    prompt = await prompt_for(await in_thread(ask)(leaf), fake())
    assert [part.kind for part in prompt.parts] == ["system", "digest", "turns", "message"]
    assert "My dog is called Rex" in prompt.messages[1].text
    assert sum(len(part.messages) for part in prompt.parts) == 121


async def test_one_turn_that_no_portion_can_hold_is_taken_by_key_sentences(alice):
    leaf = await in_thread(converse)(alice, "My cat is called Tom. " + "blah " * 900, "Good.", "And?", "So.")
    model = fake("Never asked.")
    await Keeper().after_reply(leaf.conversation_id, leaf.pk, model)
    [row] = [row async for row in Summary.objects.all()]
    assert (row.author, model.asked) == ("extract", [])
    assert "My cat is called Tom." in row.text


async def test_calls_at_the_same_time_write_one_summary(alice):
    leaf, model = await in_thread(long_talk)(alice), fake(RuntimeError("no"))
    keeper = Keeper()
    await asyncio.gather(*(keeper.after_reply(leaf.conversation_id, leaf.pk, model) for _ in range(4)))
    assert await Summary.objects.acount() == 1
    assert len(model.asked) == 1


async def test_two_processes_at_the_same_time_lose_nothing(alice):
    leaf = await in_thread(long_talk)(alice)
    models = [fake(RuntimeError("no")) for _ in range(2)]
    await asyncio.gather(*(Keeper().after_reply(leaf.conversation_id, leaf.pk, model) for model in models))
    assert await Summary.objects.acount() == 1
    assert await in_thread(covered_once)(leaf) > 10


async def test_a_reply_that_came_meanwhile_is_looked_at_too(alice):
    leaf = await in_thread(long_talk)(alice)
    elsewhere = await in_thread(long_talk)(alice, conversation=leaf.conversation)
    keeper = Keeper()

    async def another_branch_ends():
        await keeper.after_reply(leaf.conversation_id, elsewhere.pk, model)
        return RuntimeError("no")

    model = fake(another_branch_ends, RuntimeError("no"))
    await keeper.after_reply(leaf.conversation_id, leaf.pk, model)
    assert await in_thread(covered_once)(leaf) > 10
    assert await in_thread(covered_once)(elsewhere) > 10


async def test_after_giving_way_for_two_turns_key_sentences_do(alice):
    leaf = await in_thread(long_talk)(alice)
    keeper = Keeper(first_pause=0)

    async def a_reply_came():
        await keeper.after_reply(leaf.conversation_id, leaf.pk, model)
        return Preempted("later")

    model = fake(a_reply_came)
    await keeper.after_reply(leaf.conversation_id, leaf.pk, model)
    assert len(model.asked) == 2
    assert [row.author async for row in Summary.objects.all()] == ["extract"]


async def test_a_failed_reply_before_the_cut_counts_as_covered(alice):
    leaf = await in_thread(long_talk)(alice)
    path = await in_thread(leaf.conversation.path)(leaf.pk)
    await Message.objects.filter(pk=path[3]).aupdate(status="failed", text="")
    await Keeper().after_reply(leaf.conversation_id, leaf.pk, fake(RuntimeError("no")))
    assert await in_thread(covered_once)(leaf) > 10
