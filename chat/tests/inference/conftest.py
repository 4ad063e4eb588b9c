"""Engines for tests: scripted ones, and the real model loaded once."""

from pathlib import Path

import pytest

from chat.inference import Engine, EngineConfig
from chat.inference.testing import ScriptedRunner


@pytest.fixture
def scripted():
    """A function that starts an engine on a scripted runner and returns both."""
    engines = []

    def start(script=None, *, config=None, **options):
        runner = ScriptedRunner(script, **options) if script else ScriptedRunner(**options)
        engine = Engine(runner, EngineConfig(Path("scripted"), **(config or {})))
        engines.append(engine)
        engine.start()
        return engine, runner

    yield start
    for engine in engines:
        engine.close()


@pytest.fixture(scope="session")
def real_runner(model_path):
    """The default model with eight sequences, loaded once for all tests."""
    from chat.inference.llama import LlamaRunner

    runner = LlamaRunner(EngineConfig(model_path, context=1024, slots=8))
    yield runner
    runner.close()


@pytest.fixture
def engine(real_runner):
    """An engine on the shared runner. It is not closed, since that would free the model: its thread is left to wait."""
    for slot in range(real_runner.info.slots):
        real_runner.trim(slot, 0)
    engine = Engine(real_runner, EngineConfig(real_runner.info.name, busy_batch=16))
    engine.start()
    yield engine
    real_runner.close, close = lambda: None, real_runner.close
    engine.close()
    real_runner.close = close
    real_runner.resume()
