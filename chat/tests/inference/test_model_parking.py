"""The default model parks and restores: the next logits are bit-identical, and only what is new is read."""

import asyncio

import pytest

from chat.inference import Engine, EngineConfig, SamplingParams
from chat.inference.llama import LlamaRunner
from chat.tests.inference.steps import answer, request

pytestmark = pytest.mark.model

SHORT = SamplingParams(temperature=0, repeat_penalty=1.0, max_tokens=4)
TEXT = "The ship had been at sea for forty days, and nobody on board could say where the wind came from. " * 4


def test_the_next_logits_are_bit_identical_in_another_slot(real_runner):
    tokens = real_runner.tokenize(TEXT, special=False)
    whole = real_runner.logits(0, tokens)
    real_runner.logits(0, tokens[:-1])
    state = real_runner.park(0)
    assert state.nbytes == real_runner.state_size(0)
    real_runner.trim(0, 0)
    real_runner.logits(5, real_runner.tokenize("Something else. " * 20, special=False))
    assert real_runner.unpark(5, state) == len(tokens) - 1
    alone = _next(real_runner, 5, len(tokens) - 1, tokens[-1])
    real_runner.logits(0, tokens[:-1])
    assert alone == _next(real_runner, 0, len(tokens) - 1, tokens[-1])
    assert max(range(len(whole)), key=whole.__getitem__) == max(range(len(alone)), key=alone.__getitem__)


@pytest.mark.parametrize("cut", [slice(0, 100), slice(0, -1000)])
def test_a_damaged_state_leaves_an_empty_slot(real_runner, cut):
    tokens = real_runner.tokenize(TEXT, special=False)
    real_runner.logits(0, tokens)
    state = real_runner.park(0)
    assert real_runner.unpark(1, state[cut]) == 0
    assert real_runner.state_size(1) == 0
    assert real_runner.park(1) is None
    assert real_runner.unpark(1, state) == len(tokens)


@pytest.fixture
def park_on(model_path):
    """A function that starts an engine with two slots of 512 tokens, and closes the one before."""
    engines = []

    def start(**options):
        for engine in engines:
            engine.close()
        config = EngineConfig(model_path, context=512, slots=2, **options)
        engines.append(Engine(LlamaRunner(config), config))
        engines[-1].start()
        return engines[-1]

    yield start
    for engine in engines:
        engine.close()


async def turn(engine, number, talk):
    """One more turn of a conversation; returns its usage."""
    ask = request(engine, *talk, system="Be brief.", cache_key=f"talk{number}", owner=f"p{number}", sampling=SHORT)
    text, end = await answer(engine, ask)
    talk += [{"role": "assistant", "content": text, "token_ids": end.token_ids}, "And then?"]
    return end.usage


async def test_thirty_conversations_in_turn_on_two_slots_read_only_what_is_new(park_on):
    engine = await asyncio.to_thread(park_on)
    talks = [[f"Story {number}. {TEXT}"] for number in range(30)]
    first = [await turn(engine, number, talk) for number, talk in enumerate(talks)]
    second = [await turn(engine, number, talk) for number, talk in enumerate(talks)]
    for before, now in zip(first, second, strict=True):
        assert now.cached_tokens >= before.prompt_tokens
        assert now.prompt_tokens - now.cached_tokens < 20
    assert sum(usage.restored_tokens > 0 for usage in second) >= 28


async def test_a_restart_forgets_nothing(park_on, tmp_path):
    engine = await asyncio.to_thread(park_on, park_dir=tmp_path)
    talks = [[f"Story {number}. {TEXT}"] for number in range(4)]
    first = [await turn(engine, number, talk) for number, talk in enumerate(talks)]
    engine = await asyncio.to_thread(park_on, park_dir=tmp_path)
    second = [await turn(engine, number, talk) for number, talk in enumerate(talks)]
    assert all(now.restored_tokens >= before.prompt_tokens for before, now in zip(first, second, strict=True))


def _next(runner, slot, start, token):
    """The logits behind one more token in a slot that holds `start` tokens."""
    return runner.logits(slot, [token], start=start)
