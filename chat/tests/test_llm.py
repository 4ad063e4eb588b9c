"""Our engine behind LangChain's interface: streaming, usage, stop, cancellation, exact counts."""

import asyncio
from pathlib import Path

import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate

from chat.inference import Engine, EngineConfig, PromptTooLong
from chat.inference.testing import CHATML_THINKING, ScriptedRunner, endless
from chat.llm import LocalChatModel, pack_tokens, unpack_tokens


@pytest.fixture
def model_on():
    """A function that makes a chat model on a scripted runner."""
    engines = []

    def make(script=None, **options):
        runner = ScriptedRunner(script, **options) if script else ScriptedRunner(**options)
        engine = Engine(runner, EngineConfig(Path("scripted")))
        engine.start()
        engines.append(engine)
        return LocalChatModel(engine=engine)

    yield make
    for engine in engines:
        engine.close()


async def test_a_reply_streams_and_its_last_chunk_has_the_figures(model_on):
    model = model_on()
    chunks = [chunk async for chunk in model.astream([HumanMessage("Hello")])]
    assert len(chunks) > 4
    whole = sum(chunks[1:], chunks[0])
    assert whole.text == "You said: Hello"
    assert whole.usage_metadata["output_tokens"] == 5
    assert whole.usage_metadata["input_tokens"] == model.count([HumanMessage("Hello")])
    assert chunks[-1].response_metadata["finish_reason"] == "stop"
    assert chunks[-1].response_metadata["usage"]["completion_tokens"] == 5


def test_it_streams_and_answers_without_an_event_loop(model_on):
    model = model_on()
    assert "".join(chunk.text for chunk in model.stream("Hello")) == "You said: Hello"
    assert model.invoke("Hello").text == "You said: Hello"


async def test_it_is_a_link_of_a_chain(model_on):
    chain = ChatPromptTemplate.from_messages([("human", "Say {word}")]) | model_on() | StrOutputParser()
    assert await chain.ainvoke({"word": "hi"}) == "You said: Say hi"


async def test_stop_and_sampling_reach_the_engine(model_on):
    model = model_on(lambda prompt: ["one two three four"])
    assert (await model.ainvoke("x", stop=["three"])).text == "one two "
    assert (await model.ainvoke("x", max_tokens=2)).response_metadata["finish_reason"] == "length"
    with pytest.raises(ValueError, match="temperature"):
        await model.ainvoke("x", temperature=-1)


async def test_what_was_sampled_is_what_the_next_prompt_holds(model_on):
    model = model_on()
    first = await model.ainvoke("Hello", conversation="talk")
    kept = {"token_ids": first.response_metadata["token_ids"], "fingerprint": model.fingerprint}
    reply = AIMessage(first.text, additional_kwargs=kept)
    second = await model.ainvoke([HumanMessage("Hello"), reply, HumanMessage("More")], conversation="talk")
    usage = first.response_metadata["usage"]
    assert second.usage_metadata["input_token_details"]["cache_read"] == (
        usage["prompt_tokens"] + usage["completion_tokens"]
    )


async def test_tokens_of_another_model_are_not_used(model_on):
    model = model_on()
    strange = AIMessage("fine", additional_kwargs={"token_ids": pack_tokens([1, 1, 1]), "fingerprint": "other"})
    talk = [HumanMessage("Hello"), strange, HumanMessage("More")]
    plain = [HumanMessage("Hello"), AIMessage("fine"), HumanMessage("More")]
    assert model.count(talk) == model.count(plain)


async def test_reasoning_is_apart_and_can_be_switched_off(model_on):
    def script(prompt):
        return ["It is."] if "</think>" in prompt else ["<think>\nWell</think>\n\nIt is."]

    model = model_on(script, template=CHATML_THINKING)
    thought = await model.ainvoke("x", thinking=True)
    assert (thought.text, thought.additional_kwargs["reasoning_content"]) == ("It is.", "Well")
    assert thought.usage_metadata["output_token_details"]["reasoning"] > 0
    plain = await model.ainvoke("x", thinking=False)
    assert (plain.text, plain.additional_kwargs) == ("It is.", {})


async def test_a_cancelled_task_frees_the_engine(model_on):
    model = model_on(endless, slots=1)
    task = asyncio.create_task(model.ainvoke("x"))
    while model.engine.stats().running == 0:
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (await model.ainvoke("y", max_tokens=1)).usage_metadata["output_tokens"] == 1


async def test_who_waits_is_told_his_place(model_on):
    def told(position, seconds):
        places.append((position, seconds > 0))

    model, places = model_on(endless, slots=1), []
    running = model.astream("x")
    await anext(running)
    waiting = asyncio.create_task(model.ainvoke("y", on_queued=told, owner="bob", max_tokens=1))
    while not places:
        await asyncio.sleep(0)
    await running.aclose()
    await waiting
    assert places[0] == (1, True)


async def test_a_prompt_that_is_too_long_says_both_numbers(model_on):
    with pytest.raises(PromptTooLong) as refused:
        await model_on(context=64).ainvoke("word " * 100)
    assert refused.value.available == 63


def test_without_an_event_loop_it_says_so_too_and_the_engine_goes_on(model_on):
    model = model_on(context=64)
    with pytest.raises(PromptTooLong):
        model.invoke("word " * 100)
    assert model.engine.stats().steps == 0
    assert model.invoke("Hello").text == "You said: Hello"


def test_a_message_of_an_unknown_kind_is_refused(model_on):
    with pytest.raises(ValueError, match="tool"):
        model_on().count([SystemMessage("x"), ToolMessage("y", tool_call_id="1")])


def test_packed_tokens_come_back():
    assert unpack_tokens(pack_tokens([0, 1, 49151, 2**31 - 1])) == (0, 1, 49151, 2**31 - 1)
    assert unpack_tokens(pack_tokens([])) == ()
