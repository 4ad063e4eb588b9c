"""Adds to a run what only a loaded model can show."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from django.conf import settings

from chat import runtime
from chat.memory.checking import answers
from chat.memory.checking.launch import Progress, Result
from chat.memory.checking.run import Options
from chat.memory.checking.talks import make_talk

if TYPE_CHECKING:
    from chat.llm import LocalChatModel

QUESTIONS = 16  # for each system
SUMMARIES = 8
_SYSTEMS = ("ours", "window")


def add(result: Result, options: Options, progress: Progress) -> None:
    """Load the model by the settings and measure it. Raises ModelUnavailable."""
    model = runtime.wait_until_loaded()
    try:
        asyncio.run(measure(model, result, options, progress))
    finally:
        runtime.stop()


async def measure(
    model: "LocalChatModel", result: Result, options: Options, progress: Progress, *, timed: bool = True
) -> None:
    """Questions, summaries, and the time to first token unless others use the model too (not `timed`)."""
    questions = _some(result.cases["questions"])
    of = len(questions) + SUMMARIES + (2 * 16 if timed else 0)
    done = 0

    def step(what: str) -> None:
        nonlocal done
        done += 1
        progress(min(done, of), of, what)

    report = result.report
    report.model = model.model_name
    report.values += await answers.recalled(model, questions, step)
    talks = [make_talk(options.seed + 100 + number, 40) for number in range(SUMMARIES)]
    faithful = await answers.summarised(model, talks, settings.LLM_MAX_REPLY_TOKENS, step)
    report.values += faithful.values()
    if timed:
        values, _ = await answers.first_tokens(model, result.cases["turns"], step)
        report.values += values


def _some(questions: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The first few of each system, one system after the other: their prompts begin alike, so the cache helps."""
    return [
        question for name in _SYSTEMS for question in [each for each in questions if each["system"] == name][:QUESTIONS]
    ]
