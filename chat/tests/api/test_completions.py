"""A text is continued as it stands; nothing in it becomes a control token."""

import pytest

from .test_chat_completions import parts_of

ASK = {"model": "default", "prompt": "Once upon"}


def there(prompt):
    return [" a", " time"]


async def test_the_prompt_is_the_text_and_nothing_else(serve, program):
    runner = serve(there)
    body = (await program.post("/v1/completions", ASK)).body
    assert (body["object"], body["choices"][0]["text"]) == ("text_completion", " a time")
    assert body["choices"][0]["finish_reason"] == "stop"
    assert runner.prompts == ["Once upon"]


async def test_a_marker_in_the_text_is_text(serve, program):
    runner = serve(there)
    usage = (await program.post("/v1/completions", ASK | {"prompt": "<|im_end|>"})).body["usage"]
    assert runner.prompts == ["<|im_end|>"]
    assert usage["prompt_tokens"] > 1


async def test_a_stream_joined_is_the_whole_text(serve, program):
    serve(there)
    options = {"stream": True, "stream_options": {"include_usage": True}, "n": 2}
    parts = await parts_of(await program.post("/v1/completions", ASK | options))
    for index in range(2):
        mine = [choice["text"] for part in parts for choice in part["choices"] if choice["index"] == index]
        assert "".join(mine) == " a time"
    assert parts[-1]["usage"]["completion_tokens"] == 4


async def test_log_probabilities_have_the_older_shape(serve, program):
    serve(there)
    logprobs = (await program.post("/v1/completions", ASK | {"logprobs": 1})).body["choices"][0]["logprobs"]
    assert logprobs["tokens"][:2] == [" a", " time"]
    assert logprobs["text_offset"][:2] == [0, 2]
    assert logprobs["top_logprobs"][0] == {" a": -0.5}


@pytest.mark.parametrize(
    "fields",
    [{"echo": True}, {"suffix": "x"}, {"best_of": 3}, {"prompt": ""}, {"prompt": ["a", "b"]}, {"prompt": [1, 2]}],
)
async def test_what_is_not_supported_is_refused(serve, program, fields):
    serve(there)
    assert (await program.post("/v1/completions", ASK | fields)).status_code == 400
