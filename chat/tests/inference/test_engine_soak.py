"""Random arrivals, stops, failures, evictions and deletions: afterwards nothing is left, and every shadow is exact."""

import asyncio
import random
from collections import defaultdict
from pathlib import Path

import pytest

from chat.inference import EngineFailed, Priority, QueueFull, SamplingParams
from chat.inference.batch import StepFailed
from chat.inference.testing import wait_until
from chat.tests.inference.steps import answer, request

MIB = 1024 * 1024
PARKING = {"park_mb": 1, "park_disk_mb": 2}
KINDS = [*[Priority.PERSON] * 4, Priority.PREWARM, Priority.SUMMARY]


def moody(prompt):
    chance = random.Random(prompt)
    for _ in range(chance.randrange(40)):
        if chance.random() < 0.004:
            yield StepFailed("bad luck")
        yield chance.choice(["word ", "😀", "\n", b"\xf0"])


async def visit(engine, chance, person):
    talks = defaultdict(lambda: ["Hello"])
    for _ in range(chance.randrange(1, 25)):
        key = f"{person}-{chance.randrange(2)}"
        talk = talks[key]
        wanted = request(
            engine, *talk, owner=person, cache_key=key, priority=chance.choice(KINDS),
            one_conversation=chance.random() < 0.8, sampling=SamplingParams(max_tokens=chance.randrange(1, 60)),
        )  # fmt: skip
        events, patience = engine.generate(wanted), chance.randrange(50)
        try:
            async for _ in events:
                patience -= 1
                if patience == 0:
                    break
        except (EngineFailed, QueueFull):
            pass
        finally:
            await events.aclose()
        talk += ["word " * chance.randrange(1, 90), "More"]
        if chance.random() < 0.05:
            engine.forget(key)
        await asyncio.sleep(chance.random() * 0.002)


def idle(engine):
    stats = engine.stats()
    return stats.running == stats.waiting == len(engine._inbox) == 0 and not engine._shelf._unwritten()


def check(engine, runner, directory):
    """Nothing runs, every shadow is exact, and both budgets hold."""
    assert engine.stats().slots_free == 3
    assert not engine._replies
    assert not runner._samplers
    for slot in engine._slots:
        assert slot.tokens == runner.cache(slot.index)
    parking = engine._parking
    assert parking.num_bytes == sum(parked.state.nbytes for parked in parking._parked) <= MIB
    on_disk = sum(path.stat().st_size for path in directory.glob("*.parked"))
    assert on_disk == engine.stats().shelved_bytes <= 2 * MIB
    assert not list(directory.glob("*.unfinished"))


@pytest.mark.parametrize("seed", range(4))
async def test_nothing_is_left_behind(scripted, seed, tmp_path):
    chance = random.Random(seed)
    config = {"batch": 64, "busy_batch": 16, "queue_limit": 6, "park_dir": tmp_path, **PARKING}
    engine, runner = scripted(moody, slots=3, batch=64, token_bytes=1500, config=config)
    people = [f"person{number}" for number in range(25)]
    await asyncio.gather(*[visit(engine, chance, person) for person in people])
    wait_until(lambda: idle(engine))
    check(engine, runner, tmp_path)
    stats = engine.stats()
    assert stats.steps > 100
    assert stats.restored > 5
    assert stats.shelved > 0
    for person in people:
        for talk in range(2):
            engine.forget(f"{person}-{talk}")
    assert not list(tmp_path.glob("*.parked"))
    wait_until(lambda: engine.stats().parked == 0 and not any(runner.cache(slot) for slot in range(3)))


async def test_memory_stays_flat(scripted, tmp_path):
    """Rounds of conversations that push each other out of their slots; a parked token takes 1,500 bytes."""
    config = {"park_dir": tmp_path, **PARKING}
    engine, runner = scripted(lambda prompt: ["fine"], slots=3, token_bytes=1500, config=config)
    sizes = []
    for _ in range(20):
        for talk in range(12):
            await answer(engine, request(engine, f"{talk} " + "word " * 120, cache_key=f"talk{talk}"))
        runner.batches.clear()
        runner.prompts.clear()
        wait_until(lambda: idle(engine))
        sizes.append(_resident())
    assert engine.stats().restored > 100
    assert max(sizes[10:]) < max(sizes[:10]) + 4 * MIB


def _resident():
    """Bytes of memory that this process has."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096
