"""Prompts and summaries through the real chat model class and engine, on a scripted runner."""

import asyncio
from pathlib import Path

import pytest

from chat.inference import Engine, EngineConfig
from chat.inference.testing import ScriptedRunner
from chat.llm import LocalChatModel
from chat.memory import Keeper, prewarm, prompt_for
from chat.models import Summary
from chat.tests.memory.fakes import ask, converse, in_thread

pytestmark = pytest.mark.django_db(transaction=True)


def answer(prompt):
    """A reply to a message; no notes worth the name."""
    return "I cannot do that." if "Write down what must be remembered" in prompt else "So it went on and on and on."


@pytest.fixture
def model():
    engine = Engine(ScriptedRunner(answer, context=512), EngineConfig(Path("scripted")))
    engine.start()
    yield LocalChatModel(engine=engine)
    engine.close()


async def test_sixty_turns_are_answered_from_a_cache_that_grows_at_its_end(alice, model):
    keeper, reused = Keeper(), []
    leaf = await in_thread(converse)(alice, "My dog is called Rex.", "Good.")
    for turn in range(60):
        reply = await in_thread(ask)(leaf, f"Tell me more of it please {'x' * turn}")
        prompt = await prompt_for(reply, model)
        said = await model.ainvoke(prompt.messages, owner="1", conversation=str(reply.conversation_id), max_tokens=128)
        usage = said.response_metadata["usage"]
        assert usage["prompt_tokens"] == prompt.num_tokens <= 384
        assert said.text == "So it went on and on and on."
        reused.append(usage["cached_tokens"] / usage["prompt_tokens"])
        sampled = {name: said.response_metadata[name] for name in ("token_ids", "fingerprint")}
        await in_thread(reply.finish)("complete", text=said.text, **sampled)
        await keeper.after_reply(reply.conversation_id, reply.pk, model)
        leaf = reply
    rows = [row async for row in Summary.objects.all()]
    assert {row.author for row in rows} == {"extract"}
    assert "My dog is called Rex." in rows[-1].text
    assert sum(share > 0.8 for share in reused) > 55


async def test_what_was_read_ahead_is_not_read_again(alice, model):
    leaf = await in_thread(converse)(alice, "My dog is called Rex.", "Good.", "I live in Lisbon.", "A fine town.")
    assert await prewarm(leaf.conversation_id, leaf.pk, model)
    reply = await in_thread(ask)(leaf, "Where do I live?")
    prompt = await prompt_for(reply, model)
    said = await model.ainvoke(prompt.messages, owner="1", conversation=str(reply.conversation_id))
    usage = said.response_metadata["usage"]
    alone = len(model.engine.prompts._text_tokens("Where do I live?"))
    assert usage["prompt_tokens"] - usage["cached_tokens"] <= alone + 5


async def test_reading_ahead_gives_way_to_people(alice, model):
    leaf = await in_thread(converse)(alice, "Hello", "Hi.")
    talks = [model.astream("x", owner=str(number), conversation=str(number)) for number in range(4)]
    for talk in talks:
        await anext(talk)
    # All slots are taken, and prewarming waits for its turn without holding one.
    task = asyncio.create_task(prewarm(leaf.conversation_id, leaf.pk, model))
    for talk in talks:
        async for _ in talk:
            pass
    assert await task


async def test_a_branch_that_is_gone_is_not_read_ahead(alice, model):
    leaf = await in_thread(converse)(alice, "Hello", "Hi.")
    await in_thread(leaf.conversation.delete)()
    assert not await prewarm(leaf.conversation_id, leaf.pk, model)
