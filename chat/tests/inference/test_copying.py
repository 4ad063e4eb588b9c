"""Who needs what another slot has read, or is reading, copies it: several choices, and the system prompt of all."""

import asyncio

import pytest

from chat.inference.testing import wait_until
from chat.tests.inference.steps import answer, request

LONG = "word " * 200


async def usages(engine, *asks):
    """The usage of several requests that come at the same moment."""
    return [end.usage for _, end in await asyncio.gather(*[answer(engine, ask) for ask in asks])]


def exact(engine, runner):
    wait_until(lambda: engine.stats().running == 0)
    return all(slot.tokens == runner.cache(slot.index) for slot in engine._slots)


@pytest.mark.parametrize("batch", [16, 512])
async def test_several_choices_read_their_prompt_once(scripted, batch):
    engine, runner = scripted(lambda prompt: ["fine"], batch=batch, config={"batch": batch, "busy_batch": 16})
    asks = [request(engine, LONG, cache_key="api:1", one_conversation=False) for _ in range(4)]
    used = await usages(engine, *asks)
    length = used[0].prompt_tokens
    assert sorted(usage.cached_tokens for usage in used) == [0, *[length - 1] * 3]
    assert exact(engine, runner)


async def test_people_who_come_together_read_the_system_prompt_once(scripted):
    engine, runner = scripted(lambda prompt: ["fine"])
    engine.prompts.shared_system = LONG
    people = "abcd"
    asks = [request(engine, f"I am {name}", system=LONG, cache_key=name, owner=name) for name in people]
    used = await usages(engine, *asks)
    shared = asks[0].num_shared
    assert sorted(usage.cached_tokens for usage in used) == [0, shared, shared, shared]
    assert exact(engine, runner)


async def test_nothing_else_is_copied_between_people(scripted):
    engine, _ = scripted(lambda prompt: ["fine"])
    used = await usages(engine, *[request(engine, LONG, cache_key=name, owner=name) for name in "ab"])
    assert [usage.cached_tokens for usage in used] == [0, 0]


async def test_without_a_conversation_nothing_is_copied(scripted):
    engine, _ = scripted(lambda prompt: ["fine"])
    used = await usages(engine, *[request(engine, LONG, cache_key="") for _ in range(2)])
    assert [usage.cached_tokens for usage in used] == [0, 0]


async def test_a_copy_that_fails_costs_the_reading_and_nothing_else(scripted):
    engine, runner = scripted(lambda prompt: ["fine"])
    runner.unpark = lambda slot, state: 0
    used = await usages(engine, *[request(engine, LONG, cache_key="api:1", one_conversation=False) for _ in range(2)])
    assert [usage.cached_tokens for usage in used] == [0, 0]
    assert exact(engine, runner)


async def test_who_waits_for_a_reader_that_leaves_reads_himself(scripted):
    engine, runner = scripted(lambda prompt: ["fine"], prompt_token_seconds=0.01)
    first = asyncio.create_task(answer(engine, request(engine, LONG, cache_key="api:1", one_conversation=False)))
    while not runner.batches:
        await asyncio.sleep(0)
    runner._prompt_token_seconds = 0
    second = asyncio.create_task(answer(engine, request(engine, LONG, cache_key="api:1", one_conversation=False)))
    first.cancel()
    assert (await second)[0] == "fine"
    with pytest.raises(asyncio.CancelledError):
        await first
    assert exact(engine, runner)


async def test_a_model_that_cannot_cut_copies_only_what_it_can_use_whole(scripted):
    engine, runner = scripted(lambda prompt: ["fine"], can_trim=False)
    used = await usages(engine, *[request(engine, LONG, cache_key="api:1", one_conversation=False) for _ in range(3)])
    assert all(usage.cached_tokens in (0, usage.prompt_tokens - 1) for usage in used)
    assert exact(engine, runner)
