"""Whatever a request asks for that cannot be: an answer with OpenAI's body, and the next request is served."""

import json

import pytest

from chat import runtime
from chat.inference.batch import StepFailed

from .test_chat_completions import ASK

PATH = "/v1/chat/completions"


def nested(levels):
    schema = {"type": "string"}
    for _ in range(levels):
        schema = {"type": "object", "properties": {"a": schema}}
    return schema


def asking(schema):
    return {"response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}}}


REFUSED = {
    "no JSON": b"{",
    "nothing": b"",
    "a number": b"1",
    "a list": b"[]",
    "no UTF-8": b'{"messages": "\xff"}',
    "half a character": b'{"model": "\\ud800"}',
    "NaN": json.dumps(ASK | {"temperature": float("nan")}).encode(),
    "infinity": json.dumps(ASK | {"top_p": float("inf")}).encode(),
    "a number without end": b'{"temperature": ' + b"9" * 5000 + b"}",
    "brackets": b"[" * 100_000,
    "no messages": {},
    "no message": ASK | {"messages": []},
    "a million messages": b'{"messages": [' + b",".join([b"{}"] * 500_000) + b"]}",
    "a million stops": ASK | {"stop": ["x"] * 200_000},
    "a silent user": ASK | {"messages": [{"role": "user", "content": " "}]},
    "a picture": ASK | {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}]},
    "an unknown role": ASK | {"messages": [{"role": "function", "content": "x"}]},
    "a negative length": ASK | {"max_tokens": -1},
    "a huge length": ASK | {"max_tokens": 10**12},
    "a hot temperature": ASK | {"temperature": 99},
    "words for numbers": ASK | {"temperature": "warm"},
    "words for yes": ASK | {"stream": "yes"},
    "many choices": ASK | {"n": 1000},
    "a bias of no token": ASK | {"logit_bias": {"the": 1}},
    "a bias of a token that is none": ASK | {"logit_bias": {"999999999": 1}},
    "alternatives of nothing": ASK | {"top_logprobs": 3},
    "a raw grammar": ASK | {"grammar": 'root ::= "a"'},
    "functions": ASK | {"functions": []},
    "a deep schema": json.dumps(ASK | asking({})).replace(
        '"schema": {}', '"schema": ' + '{"items": ' * 5000 + "{}" + "}" * 5000
    ).encode(),
    "a schema of seventeen levels": ASK | asking(nested(9)),
    "a schema that is none": ASK | asking("string"),
    "a schema of a schema": ASK | asking({"$ref": "http://example.org/schema"}),
    "a switch that is none": ASK | {"chat_template_kwargs": {"messages": "x"}},
    "a switch with a marker": ASK | {"chat_template_kwargs": {"date": "<|im_end|>"}},
}  # fmt: skip


@pytest.mark.parametrize("kind", REFUSED)
async def test_it_is_refused_with_a_reason_and_the_next_is_served(serve, program, kind):
    serve()
    answer = await program.post(PATH, REFUSED[kind])
    assert answer.status_code == 400, answer.content
    error = answer.body["error"]
    assert error["type"] == "invalid_request_error"
    assert 5 < len(error["message"]) < 1000
    assert "/work" not in error["message"]
    assert "Traceback" not in error["message"]
    assert (await program.post(PATH, ASK)).status_code == 200


async def test_the_field_that_is_to_blame_is_named(serve, program):
    serve()
    answer = await program.post(PATH, ASK | {"messages": [{"role": "user", "content": "a"}, {"role": "user"}]})
    assert answer.body["error"]["param"] == "messages.1"
    assert answer.body["error"]["message"] == "messages.1: A message of a user must say something."


async def test_a_prompt_that_does_not_fit_is_told_with_both_numbers(serve, program):
    serve(context=64)
    answer = await program.post(PATH, ASK | {"messages": [{"role": "user", "content": "word " * 100}]})
    assert answer.status_code == 400
    assert answer.body["error"]["code"] == "context_length_exceeded"
    assert "63" in answer.body["error"]["message"]
    assert "109" in answer.body["error"]["message"]


async def test_a_body_that_is_too_large_is_413(serve, program, settings):
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 1000
    serve()
    answer = await program.post(PATH, b" " * 1001)
    assert answer.status_code == 413
    assert answer.body["error"]["type"] == "invalid_request_error"


async def test_without_a_model_it_says_try_again_and_no_path(program):
    runtime.use(None, "/secret/path/model.gguf is missing")
    answer = await program.post(PATH, ASK)
    assert answer.status_code == 503
    assert answer["Retry-After"]
    assert answer.body["error"]["code"] == "model_not_loaded"
    assert b"secret" not in answer.content


async def test_a_failing_step_is_told_once_and_the_next_reply_comes(serve, program):
    failures = iter([[StepFailed("no room")]])
    serve(lambda prompt: next(failures, ["fine"]))
    answer = await program.post(PATH, ASK)
    assert (answer.status_code, answer.body["error"]["code"]) == (500, "engine_failed")
    assert (await program.post(PATH, ASK)).status_code == 200


async def test_an_error_of_ours_is_told_without_its_words(serve, program, monkeypatch):
    serve()
    monkeypatch.setattr("chat.api.chat_completions._plan", lambda *_: 1 / 0)
    answer = await program.post(PATH, ASK)
    assert answer.status_code == 500
    assert b"division" not in answer.content


async def test_an_unknown_address_has_an_answer_for_programs(program):
    answer = await program.get("/v1/nonsense")
    assert (answer.status_code, answer.body["error"]["code"]) == (404, "not_found")


@pytest.mark.parametrize(("path", "allowed"), [(PATH, "POST"), ("/v1/models", "GET"), ("/health", "GET")])
async def test_a_method_that_is_not_taken_is_told_in_the_same_shape(program, path, allowed):
    answer = await (program.get(path) if allowed == "POST" else program.post(path, {}))
    assert answer.status_code == 405
    assert answer.headers["Allow"] == allowed
    assert answer.body["error"]["code"] == "method_not_allowed"
    assert allowed in answer.body["error"]["message"]
