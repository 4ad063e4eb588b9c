"""What the loaded model adds to a check: likelier values, summaries of use, and when the first token comes."""

from pathlib import Path

import pytest

from chat.inference import Engine, EngineConfig
from chat.inference.testing import ScriptedRunner, last_message
from chat.llm import LocalChatModel
from chat.memory.checking import answers, modelled
from chat.memory.checking.launch import Result
from chat.memory.checking.run import Options
from chat.memory.checking.talks import make_talk
from chat.memory.checking.values import Report

QUESTION = {
    "system": "ours",
    "messages": [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "My dog?"}],
    "right": "Rex",
    "wrong": ["Otto", "Max"],
}


@pytest.fixture
def load():
    """Starts an engine whose replies a script gives."""
    engines = []

    def start(script):
        engine = Engine(ScriptedRunner(script, context=1024), EngineConfig(Path("none"), context=1024))
        engine.start()
        engines.append(engine)
        return LocalChatModel(engine=engine)

    yield start
    for engine in engines:
        engine.close()


def nothing(what):
    """No progress to show."""


@pytest.mark.parametrize(("likely", "share"), [("Rex", 100), ("Otto", 0)])
async def test_the_right_value_must_be_likelier_than_each_wrong_one(load, monkeypatch, likely, share):
    model = load(lambda prompt: ["Hm."])

    async def logprob(model, before, token, num_shared):
        return -0.1 if model.engine.prompts._runner.piece(token) == likely.encode() else -3.0

    monkeypatch.setattr(answers, "_logprob", logprob)
    [value] = await answers.recalled(model, [QUESTION], nothing)
    assert value.ours == share
    assert value.note == "by chance: 33 %"


async def test_a_token_is_asked_of_the_engine_at_the_lowest_priority(load):
    model = load(lambda prompt: ["Rex"])
    tokens = model.engine.prompts.encode(QUESTION["messages"]).tokens
    assert await answers._logprob(model, tokens, 7, 0) == -0.5


async def test_a_model_that_cannot_summarise_is_told_of(load):
    model = load(lambda prompt: ["I cannot do that."])
    found = await answers.summarised(model, [make_talk(1, 40), make_talk(2, 40)], 256, nothing)
    assert (found.used.hits, found.used.total) == (0, 2)
    assert found.verdict().startswith("Its summaries are used in 0 of 2 cases; key sentences otherwise (not a summary")
    assert found.kept.total == 0
    assert found.kept_by_sentences.total > 0


async def test_a_model_that_summarises_well_is_told_of_too(load):
    def own_words(prompt):
        told = [line for line in prompt.splitlines() if line.startswith(("My ", "I ", "Our ", "The "))]
        return [" ".join(told)] if "Write down what must be remembered" in last_message(prompt) else ["Okay."]

    found = await answers.summarised(load(own_words), [make_talk(1, 40)], 256, nothing)
    assert found.used.total == 1
    assert sum(found.faults.values()) == found.used.total - found.used.hits


async def test_the_first_token_late_in_a_talk_is_held_against_an_early_one(load):
    model = load(lambda prompt: ["word "] * 50)
    prompts = [[*QUESTION["messages"][:1], {"role": "user", "content": f"Number {at}?"}] for at in range(40)]
    [value], (early, late) = await answers.first_tokens(model, prompts, nothing)
    assert value.name == "time to first token at turn 40 against turn 20"
    assert value.ours == pytest.approx(late / early)
    assert value.good == 1.2


async def test_all_of_it_is_added_to_the_report(load):
    result = Result(Report("a rule", {}, []), {"questions": [QUESTION], "turns": []})
    ticks = []
    model = load(lambda prompt: ["I cannot do that."])
    await modelled.measure(model, result, Options(), lambda *tick: ticks.append(tick), timed=False)
    assert result.report.model == "Scripted"
    assert [value.good for value in result.report.values] == [None, None, None]
    assert ticks[-1][:2] == (9, 9)
