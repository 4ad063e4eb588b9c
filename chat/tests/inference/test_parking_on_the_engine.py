"""The engine parks, restores and forgets conversations, and says so."""

import asyncio
import threading

import pytest

from chat.inference import Chunk, EngineFailed, Finished, Queued, SamplingParams
from chat.inference.testing import endless, wait_until
from chat.tests.inference.steps import answer, request

LONG = "word " * 100


def idle(engine):
    return engine.stats().running == engine.stats().waiting == 0


async def ask(engine, key, *texts):
    return (await answer(engine, request(engine, LONG, *texts, cache_key=key, owner=key)))[1].usage


async def talk(engine, key, turns=1):
    """A conversation of some turns; returns the usage of the last."""
    texts = []
    for _ in range(turns):
        text, end = await answer(engine, request(engine, f"{key} {LONG}", *texts, cache_key=key, owner=key))
        texts += [text, "More"]
    return end.usage


async def test_usage_and_stats_tell_what_was_restored(scripted):
    engine, _ = scripted(slots=1)
    first = await ask(engine, "alice")
    await ask(engine, "bob")
    assert engine.stats().parked == 1
    again = await ask(engine, "alice")
    assert again.restored_tokens == again.cached_tokens == first.prompt_tokens - 1
    stats = engine.stats()
    assert (stats.restored, stats.tokens_restored) == (1, again.restored_tokens)
    assert stats.parked_bytes > 0


async def test_forgetting_drops_what_is_parked(scripted):
    engine, _ = scripted(slots=1)
    await ask(engine, "alice")
    await ask(engine, "bob")
    engine.forget("alice")
    wait_until(lambda: engine.stats().parked == 0)
    assert (await ask(engine, "alice")).restored_tokens == 0


async def test_what_runs_of_a_forgotten_conversation_leaves_nothing(scripted):
    engine, runner = scripted(endless, slots=1)
    running = engine.generate(request(engine, LONG, cache_key="alice"))
    async for event in running:
        if isinstance(event, Chunk):
            break
    engine.forget("alice")
    await running.aclose()
    wait_until(lambda: idle(engine) and not runner.cache(0))


async def test_what_waits_of_a_forgotten_conversation_leaves_nothing(scripted):
    engine, runner = scripted(endless, slots=1)
    first = engine.generate(request(engine, LONG, cache_key="bob"))
    await anext(first)
    waiting = engine.generate(request(engine, LONG, cache_key="alice", sampling=SamplingParams(max_tokens=2)))
    assert isinstance(await anext(waiting), Queued)
    engine.forget("alice")
    await first.aclose()
    async for _ in waiting:
        pass
    wait_until(lambda: idle(engine) and not runner.cache(0))


async def test_a_restart_forgets_nothing(scripted, tmp_path):
    engine, _ = scripted(slots=2, config={"park_dir": tmp_path})
    before = {key: await ask(engine, key) for key in ("alice", "bob", "carol")}
    engine.close()
    engine, _ = scripted(slots=2, config={"park_dir": tmp_path})
    assert engine.stats().shelved == 3
    for key, usage in before.items():
        again = await ask(engine, key)
        assert again.restored_tokens == usage.prompt_tokens - 1
    assert engine.stats().shelved == 0


async def test_a_reply_that_runs_at_the_end_is_kept_as_far_as_it_came(scripted, tmp_path):
    engine, _ = scripted(endless, config={"park_dir": tmp_path})
    events = engine.generate(request(engine, LONG, cache_key="alice"))
    await anext(events)
    engine.close()
    with pytest.raises(EngineFailed):
        async for _ in events:
            pass
    engine, _ = scripted(config={"park_dir": tmp_path})
    assert (await ask(engine, "alice")).restored_tokens > 100


async def test_what_memory_has_no_room_for_comes_back_from_disk(scripted, tmp_path):
    engine, _ = scripted(slots=1, config={"park_dir": tmp_path, "park_mb": 0})
    before = await ask(engine, "alice")
    await ask(engine, "bob")
    wait_until(lambda: engine.stats().shelved == 1)
    assert engine.stats().parked == 0
    assert (await ask(engine, "alice")).restored_tokens == before.prompt_tokens - 1


async def test_a_forgotten_conversation_is_gone_from_disk_at_once(scripted, tmp_path):
    engine, _ = scripted(slots=1, config={"park_dir": tmp_path, "park_mb": 0})
    await ask(engine, "alice")
    await ask(engine, "bob")
    wait_until(lambda: engine.stats().shelved == 1)
    engine.forget("alice")
    assert not list(tmp_path.glob("*.parked"))


async def test_a_request_that_is_cancelled_while_its_copy_is_read_ends(scripted, tmp_path, monkeypatch):
    engine, _ = scripted(slots=1, config={"park_dir": tmp_path, "park_mb": 0})
    await ask(engine, "alice")
    await ask(engine, "bob")
    wait_until(lambda: engine.stats().shelved == 1)
    reading, go_on = threading.Event(), threading.Event()
    read_file = engine._shelf._read

    def slow(*work):
        reading.set()
        assert go_on.wait(10)
        read_file(*work)

    monkeypatch.setattr(engine._shelf, "_read", slow)
    wanted, events = request(engine, LONG, cache_key="alice"), asyncio.Queue()
    loop = asyncio.get_running_loop()
    engine.submit(wanted, lambda event: loop.call_soon_threadsafe(events.put_nowait, event))
    assert await asyncio.to_thread(reading.wait, 10)
    engine.cancel(wanted)
    go_on.set()
    event = await asyncio.wait_for(events.get(), 10)
    assert isinstance(event, Finished)
    assert event.reason == "cancelled"
    wait_until(lambda: engine.stats().shelved == 1)  # what was fetched for it went back


async def test_a_second_engine_does_without_the_directory(scripted, tmp_path, caplog):
    scripted(config={"park_dir": tmp_path})
    engine, _ = scripted(config={"park_dir": tmp_path})
    assert "another process uses it" in caplog.text
    await ask(engine, "alice")
    assert engine.stats().shelved == 0
