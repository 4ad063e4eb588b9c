"""The figures move with what the engine does, and carry nothing of a person."""

import asyncio
from pathlib import Path

import pytest
from langchain_core.messages import HumanMessage
from prometheus_client.parser import text_string_to_metric_families

from chat import limits, runtime
from chat.inference import Engine, EngineConfig
from chat.inference.testing import ScriptedRunner, endless, wait_until
from chat.llm import LocalChatModel
from chat.metrics.figures import Figures


@pytest.fixture
def figures():
    return Figures()


@pytest.fixture
def model(figures):
    """A scripted model whose engine is observed, in its place in this process."""
    engine = Engine(ScriptedRunner(), EngineConfig(Path("scripted")), figures)
    engine.start()
    model = LocalChatModel(engine=engine)
    runtime.use(model)
    yield model
    runtime.use(None)
    engine.close()


def read(figures):
    """Every sample that a reader sees: by its name, then its labels' values."""
    families = text_string_to_metric_families(figures.exposition().decode())
    return {
        " ".join((sample.name, *sample.labels.values())): sample.value
        for family in families
        for sample in family.samples
    }


async def test_a_generation_moves_counts_times_and_steps(figures, model):
    before = read(figures)
    assert before["chat_generated_tokens_total"] == 0
    await model.ainvoke("Hello", owner="7", conversation="talk")
    after = read(figures)
    asked = model.count([HumanMessage("Hello")])
    assert after["chat_requests_total person stop"] == 1
    assert after["chat_prompt_tokens_total"] == asked
    assert after["chat_generated_tokens_total"] == 5
    assert after["chat_first_token_seconds_count person"] == after["chat_request_seconds_count person"] == 1
    assert after["chat_output_token_seconds_count person"] == 1
    steps = model.engine.stats().steps
    assert after["chat_engine_step_tokens_count"] == after["chat_engine_step_sequences_sum"] == steps
    assert after["chat_engine_step_tokens_sum"] == model.engine.stats().tokens_read


async def test_what_the_cache_spared_is_counted(figures, model):
    for _ in range(2):
        await model.ainvoke("Hello", conversation="talk")
    after = read(figures)
    assert after["chat_cached_prompt_tokens_total"] == model.engine.stats().tokens_cached > 0
    assert after["llamacpp:prompt_tokens_total"] == (
        after["chat_prompt_tokens_total"] - after["chat_cached_prompt_tokens_total"]
    )


async def test_llama_servers_names_are_there_and_true(figures, model):
    await asyncio.gather(*(model.ainvoke(f"Hello {number}") for number in range(3)))
    after = read(figures)
    assert after["llamacpp:tokens_predicted_total"] == after["chat_generated_tokens_total"] == 3 * 6
    assert after["llamacpp:n_decode_total"] == model.engine.stats().steps
    assert 1 <= after["llamacpp:n_busy_slots_per_decode"] <= 3
    assert after["llamacpp:requests_processing"] == after["llamacpp:requests_deferred"] == 0
    assert after["llamacpp:tokens_predicted_seconds_total"] > 0
    assert after["llamacpp:prompt_seconds_total"] > 0
    assert after["llamacpp:predicted_tokens_seconds"] > 0
    assert after["llamacpp:prompt_tokens_seconds"] > 0
    assert after["llamacpp:n_tokens_max"] > 6


async def test_what_was_parked_and_came_back_is_counted(figures, model):
    for talk in (*"abcde", "a"):  # five conversations in four slots
        end = await model.ainvoke("word " * 100, conversation=talk)
    after = read(figures)
    assert after["chat_parked memory"] == 1
    assert after["chat_parked_bytes memory"] > 0
    assert (after["chat_parked disk"], after["chat_restored_total"]) == (0, 1)
    assert after["chat_restored_tokens_total"] == end.response_metadata["usage"]["restored_tokens"] > 100


async def test_what_runs_and_what_waits_is_seen_while_it_does(figures, model):
    engine = model.engine
    engine._runner._script, engine._runner._step_seconds = endless, 0.01
    leaving = [asyncio.create_task(model.ainvoke(f"{number}")) for number in range(6)]
    while engine.stats().waiting < 2:
        await asyncio.sleep(0)
    now = read(figures)
    assert (now["chat_requests_running"], now["chat_requests_waiting"]) == (4, 2)
    assert (now["chat_slots"], now["chat_slots_free"]) == (4, 0)
    assert (now["llamacpp:requests_processing"], now["llamacpp:requests_deferred"]) == (4, 2)
    for task in leaving:
        task.cancel()
    await asyncio.wait(leaving)
    wait_until(lambda: read(figures).get("chat_requests_total person cancelled") == 6)
    assert read(figures)["chat_slots_free"] == 4


def test_without_a_model_the_rest_is_there(figures):
    runtime.use(None)
    now = read(figures)
    assert now["chat_model_ready"] == 0
    assert "chat_slots" not in now
    assert now["process_resident_memory_bytes"] > 0


def test_open_sockets_are_counted(figures):
    before = read(figures)["chat_sockets_open"]
    limits.seats.take(1, 5)
    assert read(figures)["chat_sockets_open"] == before + 1
    limits.seats.give_back(1)
    assert read(figures)["chat_sockets_open"] == before


async def test_nobody_is_named_and_nothing_is_quoted(figures, model):
    await model.ainvoke("CANARY in a message", owner="CANARY-owner", conversation="CANARY-talk")
    assert b"CANARY" not in figures.exposition()
