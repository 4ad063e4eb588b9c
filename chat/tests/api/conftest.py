"""The API with keys, on engines that follow a script."""

from pathlib import Path

import pytest
from django.test import AsyncClient

from accounts.models import ApiKey
from chat import runtime
from chat.inference import Engine, EngineConfig
from chat.inference.embedding_testing import ScriptedEmbedder
from chat.inference.testing import ScriptedRunner
from chat.llm import LocalChatModel


@pytest.fixture
def serve():
    """Makes the site answer by a script; returns the runner."""
    engines = []

    def start(script=None, *, config=None, **options):
        runner = ScriptedRunner(script, **options) if script else ScriptedRunner(**options)
        engine = Engine(runner, EngineConfig(Path("scripted"), **(config or {})))
        engine.start()
        engines.append(engine)
        runtime.use(LocalChatModel(engine=engine))
        return runner

    yield start
    runtime.use(None)
    for engine in engines:
        engine.close()


@pytest.fixture
def embed():
    """Gives the site an embedding model that counts words; returns it."""
    embedders = []

    def start(**options):
        embedders.append(ScriptedEmbedder(**options))
        runtime.use_embedder(embedders[-1])
        return embedders[-1]

    yield start
    runtime.use_embedder(None)
    for embedder in embedders:
        embedder.close()


class Program:
    """A client with a key: `post` and `get` return the answer, with its JSON in `answer.body`."""

    def __init__(self, key):
        self.key = key
        self._client = AsyncClient(raise_request_exception=False)
        self._headers = {"authorization": f"Bearer {key}"}

    async def post(self, path, body, **options):
        """Ask for something; `body` is JSON, or raw bytes."""
        options = {"content_type": "application/json", "headers": self._headers} | options
        return _read(await self._client.post(path, body, **options))

    async def get(self, path, **options):
        """Look at something."""
        return _read(await self._client.get(path, **({"headers": self._headers} | options)))

    async def patch(self, path, body):
        """Change something."""
        return _read(await self._client.patch(path, body, content_type="application/json", headers=self._headers))

    async def delete(self, path):
        """Delete something."""
        return _read(await self._client.delete(path, headers=self._headers))


def _read(answer):
    is_json = not answer.streaming and answer.content and answer.get("Content-Type", "").startswith("application/json")
    answer.body = answer.json() if is_json else None
    return answer


@pytest.fixture
def program(transactional_db, alice):
    """Alice's program."""
    return Program(ApiKey.issue(alice, "test")[1])


@pytest.fixture
def bobs_program(transactional_db, bob):
    """Bob's."""
    return Program(ApiKey.issue(bob, "test")[1])
