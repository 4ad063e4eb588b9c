"""Stopping, waiting and giving way: the engine is free within a step, and nobody is forgotten."""

import asyncio
import threading

import pytest

from chat.inference import Chunk, Finished, Preempted, Priority, Queued, QueueFull, SamplingParams
from chat.inference.testing import endless, wait_until
from chat.tests.inference.steps import answer, request


async def first(events, kind):
    async for event in events:
        if isinstance(event, kind):
            return event
    raise AssertionError("it never came")


def idle(engine):
    stats = engine.stats()
    return stats.running == 0 and stats.waiting == 0 and stats.slots_free == stats.slots


async def test_leaving_ends_a_reply_while_it_is_written(scripted):
    engine, runner = scripted(endless)
    events = engine.generate(request(engine, "x"))
    await first(events, Chunk)
    await events.aclose()
    wait_until(lambda: idle(engine))
    steps = len(runner.batches)
    await answer(engine, request(engine, "y", sampling=SamplingParams(max_tokens=1)))
    assert len(runner.batches) == steps + 1


async def test_a_cancelled_task_ends_its_reply(scripted):
    engine, _ = scripted(endless)
    task = asyncio.create_task(answer(engine, request(engine, "x")))
    while engine.stats().running == 0:
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    wait_until(lambda: idle(engine))


async def test_leaving_interrupts_a_step_that_reads_a_long_prompt(scripted):
    """Case 22: with a step that would take a minute, the next person is served at once."""
    engine, runner = scripted(prompt_token_seconds=0.1)
    events = engine.generate(request(engine, "word " * 400))
    task = asyncio.create_task(anext(events))
    while not runner.batches:
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    wait_until(lambda: idle(engine), seconds=5)


async def test_leaving_the_queue_takes_the_request_out(scripted):
    engine, runner = scripted(endless, slots=1)
    running = engine.generate(request(engine, "x"))
    await first(running, Chunk)
    waiting = engine.generate(request(engine, "y", owner="bob"))
    assert (await first(waiting, Queued)).position == 1
    await waiting.aclose()
    wait_until(lambda: engine.stats().waiting == 0)
    await running.aclose()
    wait_until(lambda: idle(engine))
    assert len(runner.prompts) == 1


async def test_a_waiting_person_is_told_when_he_moves_up(scripted):
    engine, _ = scripted(endless, slots=1)
    running = engine.generate(request(engine, "x"))
    await first(running, Chunk)
    second = engine.generate(request(engine, "y", owner="bob"))
    assert (await first(second, Queued)).position == 1
    third = engine.generate(request(engine, "z", owner="carol"))
    assert (await first(third, Queued)).position == 2
    await second.aclose()
    assert (await first(third, Queued)).position == 1
    await running.aclose()
    await first(third, Chunk)
    await third.aclose()


async def test_all_running_replies_go_on_together(scripted):
    engine, runner = scripted(lambda prompt: ["word "] * 20, steps=(permits := threading.Semaphore(0)))
    tasks = [asyncio.create_task(answer(engine, request(engine, name, owner=name, cache_key=name))) for name in "abcd"]
    while len(engine._replies) < 4:
        permits.release()
        await asyncio.sleep(0.001)
    permits.release(1000)
    await asyncio.gather(*tasks)
    assert max(len(batch) for batch in runner.batches) == 4


async def test_twenty_at_once_are_all_answered_and_the_other_person_is_not_last(scripted):
    permits = threading.Semaphore(0)
    engine, runner = scripted(slots=2, steps=permits, config={"queue_limit": 100, "queue_limit_person": 30})

    # The replies are counted first: one that moves on from the inbox in between is missed, never counted twice.
    crowd = [
        asyncio.create_task(answer(engine, request(engine, "from alice", owner="alice", cache_key=str(number))))
        for number in range(20)
    ]
    while len(engine._replies) + len(engine._inbox) < 20:
        await asyncio.sleep(0)
    crowd.append(asyncio.create_task(answer(engine, request(engine, "from bob", owner="bob", cache_key="bob"))))
    while len(engine._replies) + len(engine._inbox) < 21:
        await asyncio.sleep(0)
    permits.release(10_000)
    assert len(await asyncio.gather(*crowd)) == 21
    assert ["from bob" in prompt for prompt in runner.prompts].index(True) < 5


async def test_a_full_queue_refuses(scripted):
    engine, _ = scripted(endless, slots=1, config={"queue_limit": 1})
    running = engine.generate(request(engine, "x"))
    await first(running, Chunk)
    waiting = engine.generate(request(engine, "y", owner="bob"))
    await first(waiting, Queued)
    with pytest.raises(QueueFull):
        await answer(engine, request(engine, "z", owner="carol"))
    await running.aclose()
    await waiting.aclose()


async def test_a_running_reply_is_never_thrown_out_however_many_come(scripted):
    """A slot has room for a whole context: each reply goes on to the end of that."""
    engine, runner = scripted(endless, slots=2, context=64)
    asks = [request(engine, "x", owner=f"p{number}", cache_key=f"{number}") for number in range(12)]
    ends = await asyncio.gather(*[answer(engine, ask) for ask in asks])
    assert {end.reason for _, end in ends} == {"length"}
    assert {end.usage.prompt_tokens + end.usage.completion_tokens for _, end in ends} == {64}
    assert len(runner.prompts) == 12


async def test_a_summary_gives_its_slot_to_a_person(scripted):
    engine, _ = scripted(endless, slots=1)
    summary = engine.generate(request(engine, "x", priority=Priority.SUMMARY))
    await first(summary, Chunk)
    person = engine.generate(request(engine, "y", owner="bob", cache_key="other"))
    await first(person, Chunk)
    with pytest.raises(Preempted):
        await first(summary, Finished)
    await person.aclose()


async def test_a_summary_whose_prompt_is_read_gives_way_within_the_step(scripted):
    engine, runner = scripted(prompt_token_seconds=0.1, slots=1)
    summary = asyncio.create_task(answer(engine, request(engine, "word " * 400, priority=Priority.SUMMARY)))
    while not runner.batches:
        await asyncio.sleep(0)
    person = asyncio.create_task(answer(engine, request(engine, "y", owner="bob", cache_key="other")))
    with pytest.raises(Preempted):
        await asyncio.wait_for(summary, 5)
    person.cancel()
    with pytest.raises(asyncio.CancelledError):
        await person


async def test_forgetting_a_conversation_empties_its_cache(scripted):
    engine, runner = scripted()
    await answer(engine, request(engine, "secret"))
    assert any(runner.cache(slot) for slot in range(4))
    engine.forget("talk")
    wait_until(lambda: not any(runner.cache(slot) for slot in range(4)))
