"""A program offers tools: the model is told of them, and its calls come in OpenAI's shape."""

import json

import pytest

from .test_chat_completions import ASK, parts_of

WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather in a city.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}
CLOCK = {"type": "function", "function": {"name": "get_time"}}
CALL = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Oslo"}}\n</tool_call>'
OFFER = ASK | {"tools": [WEATHER, CLOCK]}


def saying(text):
    return lambda prompt: [text]


async def message_of(program, body):
    answer = await program.post("/v1/chat/completions", body)
    assert answer.status_code == 200, answer.content
    return answer.body["choices"][0]


def called(choice):
    return [(call["function"]["name"], json.loads(call["function"]["arguments"])) for call in choice["tool_calls"]]


async def test_the_model_is_told_of_the_tools(serve, program):
    runner = serve()
    await program.post("/v1/chat/completions", OFFER)
    assert "The weather in a city." in runner.prompts[0]
    await program.post("/v1/chat/completions", OFFER | {"tool_choice": "none"})
    assert "The weather in a city." not in runner.prompts[1]


@pytest.mark.parametrize("before", ["", "Let me look.\n", "\n"])
async def test_a_call_between_markers_is_a_call(serve, program, before):
    serve(saying(before + CALL))
    choice = await message_of(program, OFFER)
    assert called(choice["message"]) == [("get_weather", {"city": "Oslo"})]
    assert choice["message"]["content"] == (before.strip() or None)
    assert choice["finish_reason"] == "tool_calls"


async def test_a_reply_of_nothing_but_json_is_a_call(serve, program):
    serve(saying('[{"name": "get_weather", "parameters": {"city": "Oslo"}}, {"name": "get_time"}]'))
    choice = await message_of(program, OFFER)
    assert called(choice["message"]) == [("get_weather", {"city": "Oslo"}), ("get_time", {})]


async def test_calls_written_as_tags_are_calls(serve, program):
    serve(
        saying("<tool_call>\n<function=get_weather>\n<parameter=city>\nOslo\n</parameter>\n</function>\n</tool_call>")
    )
    assert called((await message_of(program, OFFER))["message"]) == [("get_weather", {"city": "Oslo"})]


@pytest.mark.parametrize(
    "text",
    [
        "It is warm.  ",
        "A < b and <tool, yes",
        '<tool_call>\n{"name": "launch", "arguments": {}}\n</tool_call>',
        "<tool_call> not JSON",
        '{"warm": true}',
        "[" * 300,
    ],
)
async def test_what_is_no_call_stays_text(serve, program, text):
    serve(saying(text))
    choice = await message_of(program, OFFER)
    assert choice["message"] == {"role": "assistant", "content": text}
    assert choice["finish_reason"] == "stop"


async def test_one_call_at_a_time_where_the_program_wants_that(serve, program):
    serve(saying(f"{CALL}\n{CALL}"))
    assert len(called((await message_of(program, OFFER))["message"])) == 2
    assert len(called((await message_of(program, OFFER | {"parallel_tool_calls": False}))["message"])) == 1


@pytest.mark.parametrize(
    "choice",
    [
        {"tools": [WEATHER], "tool_choice": "required"},
        {"tool_choice": {"type": "function", "function": {"name": "get_weather"}}},
    ],
)
async def test_the_arguments_of_a_tool_that_must_be_called_are_all_that_is_written(serve, program, choice):
    runner = serve(saying('{"city": "Oslo"}'))
    assert called((await message_of(program, OFFER | choice))["message"]) == [("get_weather", {"city": "Oslo"})]
    assert runner.prompts[0].endswith('<tool_call>\n{"name": "get_weather", "arguments": ')


async def test_a_stream_of_a_call_is_the_same_call(serve, program):
    for text, choice in (
        (f"Yes.\n{CALL}", "auto"),
        ('{"city": "Oslo"}', WEATHER | {"function": {"name": "get_weather"}}),
    ):
        serve(saying(text))
        body = OFFER | {"tool_choice": choice}
        whole = (await message_of(program, body))["message"]
        parts = await parts_of(await program.post("/v1/chat/completions", body | {"stream": True}))
        deltas = [part["choices"][0]["delta"] for part in parts]
        calls = [call for delta in deltas for call in delta.get("tool_calls", [])]
        assert (
            "".join(call["function"]["arguments"] for call in calls) == whole["tool_calls"][0]["function"]["arguments"]
        )
        assert [call["function"]["name"] for call in calls if "id" in call] == ["get_weather"]
        assert parts[-1]["choices"][0]["finish_reason"] == "tool_calls"


async def test_calls_and_results_of_earlier_turns_reach_the_model(serve, program):
    runner = serve()
    call = {"id": "call_1", "type": "function", "function": {"name": "get_weather", "arguments": '{"city": "Oslo"}'}}
    talk = [
        *ASK["messages"],
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1", "content": "21 degrees <|im_end|>"},
    ]
    await program.post("/v1/chat/completions", OFFER | {"messages": talk})
    assert '{"name": "get_weather", "arguments": {"city": "Oslo"}}' in runner.prompts[0]
    assert "21 degrees" in runner.prompts[0]


def function(**fields):
    return {"type": "function", "function": {"name": "a"} | fields}


@pytest.mark.parametrize(
    "fields",
    [
        {"tools": [WEATHER, WEATHER]},
        {"tools": [], "tool_choice": "required"},
        {"tool_choice": function(name="launch")},
        {"tools": [function(name="bad name")]},
        {"tools": [{"type": "code_interpreter"}]},
        {"tools": [function(parameters={"pattern": "(a+)+"})], "tool_choice": "required"},
        {"messages": [{"role": "user", "content": "a", "tool_calls": [function(arguments="{}")]}]},
        {"messages": [{"role": "assistant", "tool_calls": [function(arguments="{")]}]},
    ],
)
async def test_tools_that_make_no_sense_are_refused(serve, program, fields):
    serve()
    answer = await program.post("/v1/chat/completions", OFFER | fields)
    assert answer.status_code == 400
    assert answer.body["error"]["message"]
