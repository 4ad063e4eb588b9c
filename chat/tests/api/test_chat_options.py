"""What a request for a chat may ask for reaches the engine, and each person's cache is his own."""

import pytest

from chat import runtime
from chat.inference.testing import CHATML_THINKING

from .test_chat_completions import ASK, parts_of

PATH = "/v1/chat/completions"


@pytest.fixture
def sampled(serve, monkeypatch):
    """The SamplingParams that requests come with."""
    runner = serve(config={"queue_limit_person": 50})
    seen = []
    opened = runner.open_sampler
    monkeypatch.setattr(
        runner, "open_sampler", lambda slot, params, prompt: (seen.append(params), opened(slot, params, prompt))
    )
    return seen


async def test_parameters_reach_the_sampler(sampled, program):
    options = {
        "temperature": 0.3,
        "top_p": 0.5,
        "top_k": -1,
        "min_p": 0.2,
        "frequency_penalty": 0.4,
        "presence_penalty": -0.4,
        "repeat_penalty": 1.3,
        "seed": -5,
        "stop": ["a", "b"],
        "logit_bias": {"3": -100},
        "max_tokens": 7,
        "max_completion_tokens": 9,
        "user": "ignored",
    }
    assert (await program.post(PATH, ASK | options)).status_code == 200
    params = sampled[0]
    assert (params.temperature, params.top_p, params.top_k, params.min_p) == (0.3, 0.5, 0, 0.2)
    assert (params.frequency_penalty, params.presence_penalty, params.repeat_penalty) == (0.4, -0.4, 1.3)
    assert (params.stop, params.logit_bias, params.max_tokens) == (("a", "b"), ((3, -100.0),), 7)
    assert params.seed == -5 % (2**32 - 1)


async def test_null_is_the_default_of_the_site(sampled, program):
    await program.post(PATH, ASK | dict.fromkeys(["temperature", "top_p", "stop", "seed", "n", "tools", "max_tokens"]))
    assert sampled == [runtime.chat_model().sampling]


async def test_temperature_zero_and_grammars_know_no_hidden_penalty(sampled, program):
    await program.post(PATH, ASK | {"temperature": 0})
    await program.post(PATH, ASK | {"response_format": {"type": "json_object"}})
    assert [params.repeat_penalty for params in sampled] == [1.0, 1.0]
    assert sampled[1].grammar


async def test_choices_have_seeds_of_their_own_and_a_number(sampled, program):
    answer = await program.post(PATH, ASK | {"n": 3, "seed": 7})
    assert [choice["index"] for choice in answer.body["choices"]] == [0, 1, 2]
    assert sorted(params.seed for params in sampled) == [7, 8, 9]
    usage = answer.body["usage"]
    assert (usage["completion_tokens"], usage["total_tokens"]) == (15, usage["prompt_tokens"] + 15)


async def test_choices_stream_side_by_side(serve, program):
    serve()
    parts = await parts_of(await program.post(PATH, ASK | {"n": 2, "stream": True}))
    for index in range(2):
        mine = [choice for part in parts for choice in part["choices"] if choice["index"] == index]
        assert "".join(choice["delta"].get("content", "") for choice in mine) == "You said: Hello"
        assert [choice["finish_reason"] for choice in mine if choice["finish_reason"]] == ["stop"]


async def test_log_probabilities_come_with_the_text(serve, program):
    serve()
    body = ASK | {"logprobs": True, "top_logprobs": 1}
    entries = (await program.post(PATH, body)).body["choices"][0]["logprobs"]["content"]
    assert entries[0] == {
        "token": "You",
        "logprob": -0.5,
        "bytes": [89, 111, 117],
        "top_logprobs": [{"token": "You", "logprob": -0.5, "bytes": [89, 111, 117]}],
    }
    parts = await parts_of(await program.post(PATH, body | {"stream": True}))
    streamed = [part["choices"][0]["logprobs"] for part in parts if part["choices"][0]["logprobs"]]
    assert [entry for logprobs in streamed for entry in logprobs["content"]] == entries


async def test_reasoning_is_apart_from_the_answer(serve, program):
    serve(lambda prompt: [b"<think>", "Hmm.", b"</think>", "Yes."], template=CHATML_THINKING)
    answer = await program.post(PATH, ASK)
    message = answer.body["choices"][0]["message"]
    assert (message["reasoning_content"].strip(), message["content"].strip()) == ("Hmm.", "Yes.")
    assert answer.body["usage"]["completion_tokens_details"]["reasoning_tokens"] > 0
    parts = await parts_of(await program.post(PATH, ASK | {"stream": True}))
    assert any("Hmm" in part["choices"][0]["delta"].get("reasoning_content", "") for part in parts)


async def test_switches_reach_the_template(serve, program):
    runner = serve(template=CHATML_THINKING + "{{ mood }}")
    switches = {"enable_thinking": False, "mood": "glad"}
    await program.post(PATH, ASK | {"chat_template_kwargs": switches})
    assert runner.prompts[0].endswith("<think>\n\n</think>\n\nglad")


async def test_contents_in_parts_and_developers_are_understood(serve, program):
    runner = serve()
    parts = [{"type": "text", "text": "Hello"}, {"type": "text", "text": "there <|im_end|>\u0000"}]
    talk = [{"role": "developer", "content": "Be kind."}, {"role": "user", "content": parts}]
    answer = await program.post(PATH, ASK | {"messages": talk})
    assert runner.prompts[0].startswith("<|im_start|>system\nBe kind.<|im_end|>")
    assert answer.body["choices"][0]["message"]["content"] == "You said: Hello\nthere "


async def test_a_person_reads_his_own_cache_and_nobody_elses(serve, program, bobs_program):
    serve(slots=1)
    await program.post(PATH, ASK)
    again = await program.post(PATH, ASK)
    assert again.body["usage"]["prompt_tokens_details"]["cached_tokens"] > 5
    other = await bobs_program.post(PATH, ASK)
    assert other.body["usage"]["prompt_tokens_details"]["cached_tokens"] == 0
