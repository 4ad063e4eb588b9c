"""What a request can ask of the sampling, on the default model."""

import json
import math

import pytest

from chat.inference import Chunk, SamplingParams, UnusableGrammar, UnusableSchema
from chat.tests.inference.steps import answer, request

pytestmark = pytest.mark.model

PET = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 20},
        "kind": {"enum": ["cat", "dog"]},
        "home": {
            "type": "object",
            "properties": {"rooms": {"type": "array", "items": {"type": "integer"}, "maxItems": 3}},
            "required": ["rooms"],
        },
    },
    "required": ["name", "kind", "home"],
}


def ask(engine, text, **sampling):
    params = SamplingParams(**{"temperature": 0, "repeat_penalty": 1.0, "max_tokens": 120} | sampling)
    return request(engine, text, system="You are a helpful assistant.", sampling=params, cache_key="")


@pytest.mark.parametrize("temperature", [0, 1.5])
async def test_a_reply_keeps_to_a_schema(engine, temperature):
    grammar = engine.grammar_of(PET)
    text, _ = await answer(engine, ask(engine, "Describe a pet.", grammar=grammar, temperature=temperature, seed=5))
    pet = json.loads(text)
    assert pet["kind"] in ("cat", "dog")
    assert all(isinstance(room, int) for room in pet["home"]["rooms"])


async def test_log_probabilities_come_with_the_text(engine):
    wanted = ask(engine, "What is the capital of France?", logprobs=3, max_tokens=5)
    chunks = [event async for event in engine.generate(wanted) if isinstance(event, Chunk)]
    tokens = [one for chunk in chunks for one in chunk.logprobs]
    assert b"".join(one.piece for one in tokens).decode() == "".join(chunk.text for chunk in chunks)
    assert all(len(one.top) == 3 and one.top[0] == (one.piece, one.logprob) for one in tokens)
    assert all(sum(math.exp(logprob) for _, logprob in one.top) <= 1.0001 for one in tokens)


async def test_without_the_wish_there_are_none(engine):
    wanted = ask(engine, "Hello", max_tokens=2)
    events = [event async for event in engine.generate(wanted)]
    assert not any(event.logprobs for event in events if isinstance(event, Chunk))


async def test_a_bias_keeps_a_token_out(engine):
    paris = engine.prompts._text_tokens(" Paris")[0]
    with_it, _ = await answer(engine, ask(engine, "What is the capital of France?", max_tokens=12))
    without, end = await answer(
        engine, ask(engine, "What is the capital of France?", max_tokens=12, logit_bias=((paris, -100),))
    )
    assert "Paris" in with_it
    assert paris not in end.token_ids
    assert "Paris" not in without


@pytest.mark.parametrize("bias", [(), ((260, -50),), ((260, 3.5), (28, -2)), ((260, 100),)])
async def test_the_likeliest_token_is_the_one_that_the_library_would_choose(engine, bias):
    chosen = [
        await answer(engine, ask(engine, "Tell me about rivers.", max_tokens=24, logit_bias=bias, logprobs=logprobs))
        for logprobs in (None, 0)
    ]
    assert chosen[0][1].token_ids == chosen[1][1].token_ids
    assert len(chosen[0][1].token_ids) == 24


async def test_a_grammar_that_cannot_be_used_fails_its_request_alone(engine):
    with pytest.raises(UnusableGrammar):
        await answer(engine, ask(engine, "x", grammar="root ::= ((("))
    assert "Paris" in (await answer(engine, ask(engine, "What is the capital of France?")))[0]


def test_a_schema_is_checked_before_it_becomes_a_grammar(engine):
    with pytest.raises(UnusableSchema):
        engine.grammar_of({"type": "array", "maxItems": 10**9})
    with pytest.raises(UnusableGrammar):
        engine.grammar_of({"type": "nonsense"})


def test_no_string_of_a_schema_may_break_its_line(engine):
    assert r'[^"\\\x00-\x1F\x7F]' in engine.grammar_of({"type": "string"})
