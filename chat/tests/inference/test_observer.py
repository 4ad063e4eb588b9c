"""Whoever measures the engine is told of every step and every end, and cannot harm it."""

import pytest

from chat.inference import Engine, EngineConfig, EngineFailed, Priority, QueueFull
from chat.inference.batch import StepFailed
from chat.inference.testing import ScriptedRunner, endless, wait_until
from chat.tests.inference.steps import answer, request


class Notebook:
    def __init__(self):
        self.steps, self.ends = [], []

    def stepped(self, num_sequences, num_tokens):
        self.steps.append((num_sequences, num_tokens))

    def ended(self, request, result):
        self.ends.append((request.priority, str(result)))


class Faulty:
    def stepped(self, num_sequences, num_tokens):
        raise RuntimeError("stepped")

    def ended(self, request, result):
        raise RuntimeError("ended")


@pytest.fixture
def observed():
    """A function that starts an engine with an observer."""
    engines = []

    def start(observer, script=None, **config):
        runner = ScriptedRunner(script, step_seconds=0.005) if script else ScriptedRunner()
        engine = Engine(runner, EngineConfig("scripted", **config), observer)
        engines.append(engine)
        engine.start()
        return engine, runner

    yield start
    for engine in engines:
        engine.close()


async def test_every_step_is_told_with_its_size(observed):
    notebook = Notebook()
    engine, runner = observed(notebook)
    await answer(engine, request(engine, "Hello"))
    assert notebook.steps == [(len(works), sum(size for _, size in works)) for works in runner.batches]


async def test_every_end_is_told_before_the_reply_ends(observed):
    notebook = Notebook()
    engine, _ = observed(notebook, lambda prompt: ["one", StepFailed("broken")] if "break" in prompt else ["one"])
    await answer(engine, request(engine, "Hello"))
    assert notebook.ends == [(Priority.PERSON, "stop")]
    with pytest.raises(EngineFailed):
        await answer(engine, request(engine, "break"))
    assert notebook.ends[1:] == [(Priority.PERSON, "error")]


async def test_leaving_and_a_full_queue_have_names_of_their_own(observed):
    notebook = Notebook()
    engine, _ = observed(notebook, endless, queue_limit=1, queue_limit_person=1)
    running = [engine.generate(request(engine, str(number))) for number in range(5)]
    for events in running:
        await anext(events)
    with pytest.raises(QueueFull):
        await answer(engine, request(engine, "one more"))
    assert notebook.ends == [(Priority.PERSON, "refused")]
    for events in running:
        await events.aclose()
    wait_until(lambda: len(notebook.ends) == 6)
    assert {result for _, result in notebook.ends[1:]} == {"cancelled"}


async def test_a_fault_in_measuring_harms_no_reply(observed, caplog):
    engine, _ = observed(Faulty())
    assert (await answer(engine, request(engine, "Hello")))[0] == "You said: Hello"
    assert (await answer(engine, request(engine, "Again")))[0] == "You said: Again"
    assert caplog.text.count("cannot be measured") == 1
