"""The openai package and LangChain's ChatOpenAI work with nothing but another base URL and a key."""

import shutil

import openai
import pytest
from langchain_openai import ChatOpenAI
from pydantic import BaseModel

from chat.tests.server.conftest import prepared  # noqa: F401

from .serving import serving

pytestmark = pytest.mark.server

CITY = '{"name": "Oslo", "kind": "capital", "mayor": {"name": "Anne", "age": 44}}'
SCRIPT = {
    "replies": [
        {"when": "weather", "say": '<tool_call>\n{"name": "weather", "arguments": {"city": "Oslo"}}\n</tool_call>'},
        {"when": "as JSON", "say": CITY},
    ]
}
WEATHER = {
    "type": "function",
    "function": {
        "name": "weather",
        "description": "The weather in a city.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}


class Mayor(BaseModel):
    name: str
    age: int


class City(BaseModel):
    name: str
    kind: str
    mayor: Mayor


@pytest.fixture(scope="module")
def server(prepared, tmp_path_factory):  # noqa: F811
    data = shutil.copytree(prepared, tmp_path_factory.mktemp("clients") / "data")
    with serving(data, script=SCRIPT, EMBED_MODEL_PATH="scripted") as server:
        yield server


@pytest.fixture
def client(server):
    with openai.OpenAI(base_url=f"{server.url}/v1", api_key=server.keys[0], max_retries=0, timeout=30) as client:
        yield client


@pytest.fixture
def chat(server):
    return ChatOpenAI(base_url=f"{server.url}/v1", api_key=server.keys[0], model="default", max_retries=0, timeout=30)


def user(text):
    return {"role": "user", "content": text}


def test_a_conversation(client):
    talk = [user("Hello")]
    first = client.chat.completions.create(model="default", messages=talk)
    assert first.choices[0].message.content == "You said: Hello"
    talk += [first.choices[0].message, user("Again")]
    second = client.chat.completions.create(model="default", messages=talk)
    assert second.choices[0].message.content == "You said: Again"
    assert second.usage.prompt_tokens_details.cached_tokens >= first.usage.prompt_tokens - 1


def test_a_stream(client):
    with client.chat.completions.create(
        model="default", messages=[user("Hello")], stream=True, stream_options={"include_usage": True}
    ) as stream:
        parts = list(stream)
    assert "".join(part.choices[0].delta.content or "" for part in parts if part.choices) == "You said: Hello"
    assert parts[-1].usage.total_tokens == parts[-1].usage.prompt_tokens + 5


async def test_both_asynchronously(server):
    async with openai.AsyncOpenAI(base_url=f"{server.url}/v1", api_key=server.keys[0], timeout=30) as client:
        whole = await client.chat.completions.create(model="default", messages=[user("Hello")])
        assert whole.choices[0].message.content == "You said: Hello"
        stream = await client.chat.completions.create(model="default", messages=[user("Hello")], stream=True)
        texts = [part.choices[0].delta.content or "" async for part in stream]
        assert "".join(texts) == "You said: Hello"


def test_structured_output(client):
    answer = client.chat.completions.parse(model="default", messages=[user("Oslo as JSON")], response_format=City)
    assert answer.choices[0].message.parsed == City.model_validate_json(CITY)


def test_a_tool_call_and_its_result(client):
    talk = [user("The weather in Oslo?")]
    choice = client.chat.completions.create(model="default", messages=talk, tools=[WEATHER]).choices[0]
    call = choice.message.tool_calls[0]
    assert (call.function.name, choice.finish_reason) == ("weather", "tool_calls")
    talk += [choice.message, {"role": "tool", "tool_call_id": call.id, "content": "21 degrees"}]
    assert "21 degrees" in client.chat.completions.create(model="default", messages=talk).choices[0].message.content


def test_a_tool_call_in_a_stream(client):
    with client.chat.completions.stream(model="default", messages=[user("weather")], tools=[WEATHER]) as stream:
        final = stream.get_final_completion()
    assert final.choices[0].message.tool_calls[0].function.arguments == '{"city": "Oslo"}'


def test_models_and_texts(client):
    assert [model.id for model in client.models.list()] == ["Scripted", "hashed-words"]
    assert client.models.retrieve("default").id == "Scripted"
    assert client.completions.create(model="default", prompt="Once").choices[0].text


def test_errors_have_the_right_classes(client, server):
    ask = client.chat.completions.create
    with pytest.raises(openai.BadRequestError, match="temperature"):
        ask(model="default", messages=[user("x")], temperature=9)
    with pytest.raises(openai.BadRequestError) as too_long:
        ask(model="default", messages=[user("word " * 3000)])
    assert too_long.value.code == "context_length_exceeded"
    with pytest.raises(openai.NotFoundError):
        ask(model="gpt-4o", messages=[user("x")])
    with pytest.raises(openai.NotFoundError, match="embedding"):
        client.embeddings.create(model="gpt-4o", input="x")
    with pytest.raises(openai.AuthenticationError):
        client.with_options(api_key="chat_wrong").models.list()


def test_embeddings(client):
    texts = ["My dog is called Rex", "My dog is big"]
    packed = client.embeddings.create(model="default", input=texts)  # the client asks for base64
    plain = client.embeddings.create(model="default", input=texts, encoding_format="float")
    assert packed.model == "hashed-words"
    for one, other in zip(packed.data, plain.data, strict=True):
        assert one.embedding == pytest.approx(other.embedding, abs=1e-6)
    assert packed.usage.prompt_tokens == 9


def test_langchain_talks_streams_and_calls(chat):
    assert chat.invoke("Hello").text == "You said: Hello"
    assert "".join(part.text for part in chat.stream("Hello")) == "You said: Hello"
    called = chat.bind_tools([WEATHER]).invoke("The weather in Oslo?")
    assert called.tool_calls[0]["args"] == {"city": "Oslo"}


@pytest.mark.parametrize("method", ["json_schema", "function_calling", "json_mode"])
def test_langchain_gets_structured_output(chat, method):
    got = chat.with_structured_output(City, method=method).invoke("Oslo as JSON")
    assert got == City.model_validate_json(CITY)
