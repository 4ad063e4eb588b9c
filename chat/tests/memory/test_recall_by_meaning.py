"""With an embedding model, what was said comes back in other words too; without one, or while it fails, words do."""

import asyncio
import logging

import pytest

from chat import runtime
from chat.inference.embedding import Embedder, Urgency
from chat.inference.embedding_testing import ScriptedEmbedder
from chat.inference.request import EngineFailed
from chat.memory import after_reply, prompt_for, vectors
from chat.memory.recall import make_findable
from chat.models import Message, Vector
from chat.tests.memory.fakes import ask, converse, fake, in_thread
from chat.tests.memory.recalling import old_talk, recalled

pytestmark = pytest.mark.django_db(transaction=True)

FACT, QUESTION = "My hound is called Rex.", "What is my pet?"


@pytest.fixture
def embedder():
    """Knows that a hound is a pet."""
    embedder = ScriptedEmbedder(alike=[("hound", "pet")])
    runtime.use_embedder(embedder)
    yield embedder
    runtime.use_embedder(None)
    embedder.close()


async def answer(last, question=QUESTION):
    return recalled(await prompt_for(await in_thread(ask)(last, question), fake()))


async def test_other_words_with_the_same_meaning_are_found(alice, embedder):
    last = await in_thread(old_talk)(alice, "Hello there.", "Good day.", FACT, "Noted.")
    await make_findable(last.conversation_id)
    assert f"User: {FACT}" in await answer(last)


async def test_vectors_are_computed_after_a_reply_once(alice, embedder):
    last = await in_thread(converse)(alice, FACT, "Noted. " * 100)
    streaming = await in_thread(ask)(last)
    for _ in range(2):
        await after_reply(last.conversation_id, last.pk, fake())
    assert {row.pk async for row in Vector.objects.all()} == {last.parent_id, last.pk, streaming.parent_id}
    assert sum(embedder.model.batches) == 5  # windows: one for each message, three for the long one


async def test_vectors_of_another_model_are_computed_again(alice, embedder):
    last = await in_thread(converse)(alice, FACT, "Noted.")
    await Vector.objects.acreate(message=last, fingerprint="another", values=b"1234")
    await make_findable(last.conversation_id)
    prints = {row.fingerprint async for row in Vector.objects.all()}
    assert prints == {embedder.info.fingerprint}


async def test_nothing_is_stored_of_what_was_forgotten_meanwhile(alice, embedder, monkeypatch):
    last = await in_thread(converse)(alice, FACT, "Noted.")
    compute = embedder.aembed

    async def forget_meanwhile(texts, urgency):
        await Message.objects.filter(pk=last.parent_id).aupdate(status="forgotten", text="")
        return await compute(texts, urgency)

    monkeypatch.setattr(embedder, "aembed", forget_meanwhile)
    await make_findable(last.conversation_id)
    assert [row.pk async for row in Vector.objects.all()] == [last.pk]


async def test_a_reply_does_not_wait_for_a_slow_embedding_model(alice, embedder, monkeypatch):
    last = await in_thread(old_talk)(alice, FACT, "Noted.")
    await make_findable(last.conversation_id)

    async def never(*_):
        await asyncio.Event().wait()

    monkeypatch.setattr(embedder, "aembed", never)
    monkeypatch.setattr(vectors, "PATIENCE", 0.01)
    assert f"User: {FACT}" in await answer(last, "What is my hound called?")


async def test_words_do_when_the_embedding_model_fails(alice, embedder, caplog):
    caplog.set_level(logging.INFO, logger="chat.memory")
    embedder.model.fails = EngineFailed("no")
    last = await in_thread(old_talk)(alice, FACT, "Noted.")
    await after_reply(last.conversation_id, last.pk, fake())
    assert f"User: {FACT}" in await answer(last, "What is my hound called?")
    assert "hound" not in caplog.text
    assert not await Vector.objects.aexists()


async def test_questions_go_first_and_the_index_last(alice, embedder, monkeypatch):
    asked = []
    compute = embedder.aembed

    async def note(texts, urgency):
        asked.append(urgency)
        return await compute(texts, urgency)

    monkeypatch.setattr(embedder, "aembed", note)
    last = await in_thread(old_talk)(alice, FACT, "Noted.")
    await make_findable(last.conversation_id)
    await answer(last)
    assert {*asked[:-1]} == {Urgency.INDEX}
    assert asked[-1] == Urgency.QUERY


async def test_another_persons_nearest_meaning_is_not_looked_at(alice, bob, embedder):
    others = await in_thread(old_talk)(bob, "My hound is called Canary.", "Noted.")
    last = await in_thread(old_talk)(alice, "Hello there.", "Good day.")
    for talk in (others, last):
        await make_findable(talk.conversation_id)
    assert await answer(others) != []
    assert "Canary" not in " ".join(await answer(last))


@pytest.mark.model
async def test_the_default_model_finds_what_it_is_about(alice, embedding_model_path):
    from chat.inference.llama.embedder import LlamaEmbedding

    embedder = Embedder(LlamaEmbedding(embedding_model_path))
    runtime.use_embedder(embedder)
    try:
        last = await in_thread(old_talk)(alice, "My dog is called Rex.", "Noted.", "I drive a red Volvo.", "Nice.")
        await make_findable(last.conversation_id)
        assert (await answer(last, "What is the name of my pet?"))[0] == "User: My dog is called Rex."
        assert "User: I drive a red Volvo." in await answer(last, "Which vehicle do I own?")
    finally:
        runtime.use_embedder(None)
        embedder.close()
