"""Opening a conversation has its prompt read while the engine has nothing else to do."""

import asyncio
from pathlib import Path

import pytest
from channels.layers import channel_layers

from chat import runtime
from chat.database import in_database
from chat.inference import Engine, EngineConfig
from chat.inference.testing import ScriptedRunner
from chat.llm import LocalChatModel
from chat.models import Conversation
from chat.services import writing
from chat.tests.fakes import Page
from chat.tests.memory.fakes import converse

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def engine(settings):
    """An engine behind the services."""
    settings.ALLOWED_HOSTS = ["testserver"]
    engine = Engine(ScriptedRunner(), EngineConfig(Path("scripted")))
    engine.start()
    runtime.use(LocalChatModel(engine=engine))
    yield engine
    runtime.use(None)
    engine.close()
    channel_layers.backends.clear()


async def opened(conversation, client):
    tab = Page(conversation, client)
    await tab.open()
    return tab


async def test_the_prompt_is_read_when_the_page_is_opened(alice, as_alice, engine):
    leaf = await in_database(converse, alice, "My dog is called Rex.", "A fine name.")
    await in_database(Conversation.objects.filter(pk=leaf.conversation_id).update, head=leaf)
    tab = await opened(leaf.conversation_id, as_alice)
    async with asyncio.timeout(10):
        while engine.stats().tokens_read < 20:
            await asyncio.sleep(0.001)
    await tab.disconnect()
    await writing.close()
    assert any("Rex" in prompt for prompt in engine._runner.prompts)


async def test_an_empty_conversation_has_nothing_to_read(alice, as_alice, engine, conversation):
    tab = await opened(conversation.pk, as_alice)
    await tab.disconnect()
    await writing.close()
    assert engine.stats().steps == 0
