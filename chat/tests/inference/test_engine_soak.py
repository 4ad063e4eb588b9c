"""Random arrivals, stops and failures: afterwards every slot is free and its shadow equals its cache."""

import asyncio
import random

import pytest

from chat.inference import EngineFailed, Priority, QueueFull, SamplingParams
from chat.inference.batch import StepFailed
from chat.inference.testing import wait_until
from chat.tests.inference.steps import request


def moody(prompt):
    chance = random.Random(prompt)
    for _ in range(chance.randrange(40)):
        if chance.random() < 0.004:
            yield StepFailed("bad luck")
        yield chance.choice(["word ", "😀", "\n", b"\xf0"])


async def visit(engine, chance, person):
    talk = ["Hello"]
    for _ in range(chance.randrange(1, 5)):
        wanted = request(
            engine, *talk, owner=person, cache_key=f"{person}{chance.randrange(2)}",
            priority=chance.choice(list(Priority)),
            sampling=SamplingParams(max_tokens=chance.randrange(1, 60)),
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
        talk += ["word " * chance.randrange(1, 30), "More"]
        await asyncio.sleep(chance.random() * 0.002)


@pytest.mark.parametrize("seed", range(4))
async def test_nothing_is_left_behind(scripted, seed):
    chance = random.Random(seed)
    engine, runner = scripted(moody, slots=3, batch=64, config={"batch": 64, "busy_batch": 16, "queue_limit": 6})
    await asyncio.gather(*[visit(engine, chance, f"person{number}") for number in range(25)])
    wait_until(lambda: engine.stats().running == 0 and engine.stats().waiting == 0)
    assert engine.stats().slots_free == 3
    assert not engine._replies
    for slot in engine._slots:
        assert slot.tokens == runner.cache(slot.index)
    assert not runner._samplers
    assert engine.stats().steps > 100
