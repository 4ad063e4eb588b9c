"""With the real model: sixty turns in a small context, and four people at once."""

import asyncio
import uuid
from dataclasses import replace

import pytest
from django.contrib.auth import get_user_model

from chat import memory, runtime, services
from chat.database import in_database
from chat.inference import Engine, EngineConfig, SamplingParams
from chat.llm import LocalChatModel
from chat.models import Conversation, Message
from chat.replies import Ended, Part
from chat.services import writing

pytestmark = [pytest.mark.model, pytest.mark.django_db(transaction=True), pytest.mark.timeout(1200)]

CONTEXT = 1024


@pytest.fixture
async def real_model(model_path, settings):
    """The default model behind the services, with the context that the test is about."""
    from chat.inference.llama import LlamaRunner

    settings.LLM_MAX_REPLY_TOKENS = 32
    config = EngineConfig(model_path, context=CONTEXT, slots=4)
    engine = await asyncio.to_thread(lambda: Engine(LlamaRunner(config), config))
    engine.prompts.shared_system = settings.CHAT_SYSTEM_PROMPT
    engine.start()
    model = LocalChatModel(engine=engine, sampling=SamplingParams(temperature=0.5, seed=1))
    runtime.use(model)
    yield model
    await writing.close()
    runtime.use(None)
    await asyncio.to_thread(engine.close)


async def say(conversation, parent, text):
    """One turn; returns the reply's row and how many parts it came in."""
    sent = await services.send_message(
        conversation.pk, conversation.owner_id, client_id=uuid.uuid4(), parent=parent, text=text
    )
    parts = 0
    async for event in services.follow_reply(conversation.pk, sent.reply["id"]):
        parts += isinstance(event, Part)
        if isinstance(event, Ended):
            return await Message.objects.aget(pk=sent.reply["id"]), parts
    raise AssertionError("the reply never ended")


async def remembered():
    """Wait until memory has nothing to do."""
    while writing._remembering:
        await asyncio.wait(writing._remembering)


async def test_sixty_turns_in_a_small_context_and_the_early_ones_are_remembered(alice, real_model):
    conversation = await in_database(Conversation.begin, alice)
    parent = None
    for turn in range(60):
        text = (
            "My dog is called Rex and I live in Lisbon." if turn == 0 else f"Tell me about the number {turn}, briefly."
        )
        reply, _ = await say(conversation, parent, text)
        assert (reply.status, reply.error) == (Message.Status.COMPLETE, "")
        assert reply.usage["prompt_tokens"] + reply.usage["completion_tokens"] <= CONTEXT
        parent = reply.pk
        await remembered()

    question = await Message.objects.acreate(
        conversation=conversation, parent_id=parent, role="user", status="complete", text="What is my dog called?"
    )
    answer = await Message.objects.acreate(
        conversation=conversation, parent=question, role="assistant", status="queued"
    )
    prompt = await memory.prompt_for(answer, real_model)
    shown = "\n".join(message.text for message in prompt.messages)
    assert prompt.num_tokens == real_model.count(prompt.messages) < CONTEXT
    assert "Rex" in shown
    assert "Lisbon" in shown
    assert "number 59" in shown
    assert "number 5," not in "\n".join(message.text for message in prompt.messages if message.type == "human")
    assert 1 <= await conversation.summaries.acount() <= 12


async def test_most_of_a_prompt_is_already_in_the_cache(alice, real_model):
    conversation = await in_database(Conversation.begin, alice)
    first, _ = await say(conversation, None, "What is the capital of France? Answer in one sentence.")
    second, _ = await say(conversation, first.pk, "And of Spain?")
    assert second.usage["cached_tokens"] == first.usage["prompt_tokens"] + first.usage["completion_tokens"]


async def test_four_people_stream_together(real_model):
    people = [
        await in_database(get_user_model().objects.create_user, name, f"{name}@example.org", "x") for name in "abcd"
    ]
    talks = [await in_database(Conversation.begin, person) for person in people]
    model = real_model.model_copy(update={"sampling": replace(real_model.sampling, repeat_penalty=1.0)})
    runtime.use(model)
    busiest = 0

    async def watch():
        nonlocal busiest
        while True:
            busiest = max(busiest, real_model.engine.stats().running)
            await asyncio.sleep(0.001)

    watching = asyncio.create_task(watch())
    answers = await asyncio.gather(*[say(talk, None, "Count from one to twenty.") for talk in talks])
    watching.cancel()
    assert [reply.status for reply, _ in answers] == [Message.Status.COMPLETE] * 4
    assert busiest == 4
    assert all(parts > 1 for _, parts in answers)
