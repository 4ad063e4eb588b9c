"""What tests of conversations share."""

import os
from pathlib import Path

import pytest
from channels.layers import channel_layers
from django.conf import settings
from django.test import AsyncClient

from chat import consumers, memory, runtime
from chat.models import Conversation
from chat.services import writing
from chat.tests.fakes import FakeChatModel, FakeMemory, Page


@pytest.fixture(scope="session")
def model_path():
    """The default model's file; bin/test fetches it."""
    path = Path(os.environ.get("TEST_MODEL_PATH") or settings.BASE_DIR / "var/models/SmolLM2-135M-Instruct.Q4_1.gguf")
    assert path.exists(), f"{path} is missing: bin/test fetches it, or `python manage.py get_model`."
    return path


@pytest.fixture(scope="session")
def embedding_model_path():
    """The default embedding model's file; bin/test makes it."""
    path = settings.BASE_DIR / "var/models/all-MiniLM-L6-v2.gguf"
    assert path.exists(), f"{path} is missing: bin/test makes it, or `python manage.py get_embedding_model`."
    return path


@pytest.fixture
def model(monkeypatch):
    """A model that says `Hello there.`; tests give it another script."""
    fake = FakeChatModel()
    monkeypatch.setattr(runtime, "chat_model", lambda: fake)
    return fake


@pytest.fixture
def remembered(monkeypatch):
    """A memory that shows the model the last message alone."""
    fake = FakeMemory()
    for name in ("MessageTooLong", "check_fits", "prompt_for", "after_reply"):
        monkeypatch.setattr(memory, name, getattr(fake, name), raising=False)
    return fake


@pytest.fixture
def conversation(alice):
    """Alice's, still empty."""
    return Conversation.begin(alice)


@pytest.fixture
def as_alice(alice):
    """Her browser."""
    return _logged_in(alice)


@pytest.fixture
def as_bob(bob):
    """His browser."""
    return _logged_in(bob)


@pytest.fixture
async def open_tab(conversation, as_alice, model, remembered, settings, monkeypatch):
    """Opens tabs of Alice's conversation; all are closed at the end, and no reply is left running."""
    settings.ALLOWED_HOSTS = ["testserver"]
    settings.FRAMES_PER_10_SECONDS = 1000
    # Or the regular look would find what something else should have told.
    monkeypatch.setattr(consumers, "LOOK_EVERY", 3600.0)
    tabs = []

    async def opened(client=as_alice, conversation=conversation.pk, **options):
        tab = Page(conversation, client, **options)
        tabs.append(tab)
        tab.hello = await tab.open()
        return tab

    yield opened
    for tab in tabs:
        if not tab.future.done():
            await tab.disconnect(timeout=10)
    await writing.close()
    channel_layers.backends.clear()


def _logged_in(person):
    client = AsyncClient()
    client.force_login(person)
    return client
