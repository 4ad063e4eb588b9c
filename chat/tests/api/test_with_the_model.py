"""The default model behind the API: grammar, seeds, choices and usage."""

import json
import shutil
from enum import StrEnum

import openai
import pytest
from pydantic import BaseModel, Field

from chat.tests.server.conftest import prepared  # noqa: F401

from .serving import serving

pytestmark = [pytest.mark.server, pytest.mark.model]

TALK = [{"role": "user", "content": "Tell me a very short story about a boat."}]


class Kind(StrEnum):
    RIVER = "river"
    SEA = "sea"


class Captain(BaseModel):
    name: str = Field(max_length=20)
    age: int
    married: bool


class Boat(BaseModel):
    kind: Kind
    captain: Captain
    masts: list[int] = Field(max_length=4)


@pytest.fixture(scope="module")
def server(prepared, tmp_path_factory, model_path):  # noqa: F811
    data = shutil.copytree(prepared, tmp_path_factory.mktemp("model") / "data")
    with serving(data, LLM_MODEL_PATH=str(model_path), LLM_CONTEXT="1024", LLM_SLOTS="4") as server:
        yield server


@pytest.fixture
def client(server):
    with openai.OpenAI(base_url=f"{server.url}/v1", api_key=server.keys[0], max_retries=0, timeout=120) as client:
        yield client


def ask(client, **options):
    options = {"model": "default", "messages": TALK, "max_tokens": 40} | options
    return client.chat.completions.create(**options)


def test_a_schema_of_nested_objects_and_enums_is_kept(client):
    for seed in range(3):
        answer = client.chat.completions.parse(
            model="default", messages=TALK, response_format=Boat, seed=seed, max_tokens=300, temperature=1.0
        )
        assert isinstance(answer.choices[0].message.parsed, Boat), answer


def test_a_json_object_is_json(client):
    answer = ask(client, response_format={"type": "json_object"}, max_tokens=400, seed=3)
    if answer.choices[0].finish_reason == "stop":
        assert isinstance(json.loads(answer.choices[0].message.content), dict)
    assert answer.choices[0].message.content.startswith("{")


def test_a_tool_that_must_be_called_is_called_by_its_schema(client):
    tools = [
        {"type": "function", "function": {"name": name, "parameters": Boat.model_json_schema()}}
        for name in ("build", "sink")
    ]
    for choice in ("required", {"type": "function", "function": {"name": "sink"}}):
        answer = ask(client, tools=tools, tool_choice=choice, max_tokens=300, seed=1)
        call = answer.choices[0].message.tool_calls[0].function
        assert call.name in {"build", "sink"}
        assert Boat.model_validate_json(call.arguments)


def test_a_stream_is_the_whole_reply_for_the_same_seed(client):
    whole = ask(client, seed=7, temperature=0.9).choices[0].message.content
    parts = [part.choices[0].delta.content or "" for part in ask(client, seed=7, temperature=0.9, stream=True)]
    assert "".join(parts) == whole
    assert len(parts) > 5


def test_three_choices_differ_and_their_usage_adds_up(client):
    answer = ask(client, n=3, seed=7, temperature=1.2)
    texts = [choice.message.content for choice in answer.choices]
    assert len(set(texts)) == 3
    usage = answer.usage
    alone = ask(client, seed=7, temperature=1.2)
    assert alone.choices[0].message.content == texts[0]
    assert usage.prompt_tokens == alone.usage.prompt_tokens
    assert usage.total_tokens == usage.prompt_tokens + usage.completion_tokens
    assert alone.usage.completion_tokens <= usage.completion_tokens <= 3 * 40


def test_log_probabilities_belong_to_the_tokens(client):
    answer = ask(client, logprobs=True, top_logprobs=3, temperature=0, max_tokens=8)
    tokens = answer.choices[0].logprobs.content
    assert (
        b"".join(bytes(token.bytes) for token in tokens).decode().strip() == answer.choices[0].message.content.strip()
    )
    assert all(token.logprob <= 0 and len(token.top_logprobs) == 3 for token in tokens)
    assert tokens[0].token == tokens[0].top_logprobs[0].token


def test_a_biased_token_takes_over(client):
    answer = ask(client, temperature=0, max_tokens=3, logit_bias={"30": 100})
    same = ask(client, temperature=1.5, max_tokens=3, logit_bias={"30": 100})
    assert len(set(answer.choices[0].message.content)) == 1
    assert answer.choices[0].message.content == same.choices[0].message.content


def test_a_stop_text_ends_the_reply_unseen(client):
    whole = ask(client, temperature=0).choices[0].message.content
    word = whole.split()[3]
    cut = ask(client, temperature=0, stop=[word]).choices[0]
    assert cut.message.content == whole[: whole.index(word)]
    assert cut.finish_reason == "stop"
