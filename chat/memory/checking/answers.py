"""What the loaded model makes of the memory: whether it recalls, summarises faithfully, and begins to answer soon."""

import asyncio
import statistics
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage

from chat.inference import GREEDY, Chunk, Preempted, Priority, Request
from chat.memory import summary
from chat.memory.budget import Budget
from chat.memory.checking.looking import common, says
from chat.memory.checking.systems import system
from chat.memory.checking.talks import Talk
from chat.memory.checking.values import Tally, Value
from chat.memory.prompt import Layout

if TYPE_CHECKING:
    from chat.llm import LocalChatModel

OWNER = "memory_check"
_KINDS: dict[str, Callable[[str], BaseMessage]] = {
    "user": HumanMessage,
    "assistant": AIMessage,
    "system": SystemMessage,
}
_PAUSE = 1.0  # seconds after a request gave way
Step = Callable[[str], None]
"""Called with what is being done after each step."""


async def recalled(model: "LocalChatModel", questions: Sequence[Mapping[str, Any]], step: Step) -> list[Value]:
    """How often the right value is likelier than each wrong one as the beginning of the reply, by system."""
    tallies: dict[str, Tally] = {}
    for question in questions:
        messages = [_KINDS[each["role"]](each["content"]) for each in question["messages"]]
        right, *wrong = [await _likelihood(model, messages, text) for text in (question["right"], *question["wrong"])]
        tallies.setdefault(question["system"], Tally()).count(right > max(wrong), question["messages"][-1]["content"])
        step("questions to the model")
    shares = {name: 100 * tally.share for name, tally in tallies.items()}
    chance = 100 / (1 + len(questions[0]["wrong"])) if questions else 0
    return [
        Value(
            "the model finds the right value likelier than wrong ones", "%", shares.get("ours", float("nan")),
            more_is_better=True, window=shares.get("window", float("nan")),
            summary_only=shares.get("summary only", float("nan")), note=f"by chance: {chance:.0f} %",
        )
    ]  # fmt: skip


async def _likelihood(model: "LocalChatModel", messages: Sequence[BaseMessage], text: str) -> float:
    """The mean log probability of a text's tokens as the beginning of the reply."""
    plain = [{"role": _role(message), "content": message.text} for message in messages]
    encode = model.engine.prompts.encode
    prompt = encode(plain, thinking=False)
    whole = encode(plain, thinking=False, beginning=text).tokens
    start = common(prompt.tokens, whole)
    found = [await _logprob(model, whole[:at], whole[at], prompt.num_shared) for at in range(start, len(whole))]
    known = [one for one in found if one is not None]
    return statistics.fmean(known) if known else float("-inf")


async def _logprob(model: "LocalChatModel", before: list[int], token: int, num_shared: int) -> float | None:
    """The log probability of one token behind others; the bias makes it come, the figure is the model's own."""
    sampling = replace(GREEDY, max_tokens=1, logprobs=0, logit_bias=((token, 100.0),))

    def request() -> Request:
        return Request(
            before, sampling, owner=OWNER, cache_key=OWNER, num_shared=min(num_shared, len(before)),
            priority=Priority.SUMMARY,
        )  # fmt: skip

    async def once() -> float | None:
        async with aclosing(model.engine.generate(request())) as events:
            async for event in events:
                if isinstance(event, Chunk) and event.logprobs:
                    return event.logprobs[0].logprob
        return None

    found: float | None = await _until_it_has_its_turn(once)
    return found


async def _until_it_has_its_turn(once: Callable[[], Any]) -> Any:
    while True:
        try:
            return await once()
        except Preempted:
            await asyncio.sleep(_PAUSE)


@dataclass
class Faithful:
    """What the model's summaries are worth: how many pass, why not, and what they keep of what was told."""

    used: Tally = field(default_factory=Tally)
    faults: Counter[str] = field(default_factory=Counter)
    kept: Tally = field(default_factory=Tally)
    kept_by_sentences: Tally = field(default_factory=Tally)

    def verdict(self) -> str:
        """A sentence for whoever chose the model."""
        told = f"Its summaries are used in {self.used.hits} of {self.used.total} cases"
        if self.used.hits == self.used.total:
            return f"{told}."
        return (
            f"{told}; key sentences otherwise ({', '.join(f'{kind}: {n}' for kind, n in self.faults.most_common())})."
        )

    def values(self) -> list[Value]:
        """As rows."""
        kept, sentences = 100 * self.kept.share, 100 * self.kept_by_sentences.share
        return [
            Value("summaries by the model that can be used", "%", 100 * self.used.share, more_is_better=True,
                  note=self.verdict()),
            Value("names and numbers of facts that its own summaries keep", "%", kept, more_is_better=True,
                  summary_only=sentences, note="beside it: what key sentences keep of the same"),
        ]  # fmt: skip


async def summarised(model: "LocalChatModel", talks: Sequence[Talk], max_reply: int, step: Step) -> Faithful:
    """Have the model summarise the beginnings of talks as the keeper would, at the lowest priority."""
    found = Faithful()
    budget = Budget.of(model.context_tokens, max_reply)
    for talk in talks:
        past, cut = await asyncio.to_thread(_first_fold, talk, budget, model)
        if not cut:
            continue
        fits = summary.is_smaller(past, cut, budget, model.count)
        try:
            text = await _until_it_has_its_turn(partial(_ask, model, past, cut, budget))
            text = summary.check(text, past, cut, fits)
            found.used.count(True, "")
        except summary.Unusable as fault:
            found.faults[str(fault)] += 1
            found.used.count(False, str(fault))
            text = ""
        sentences = summary.extracted(past, cut, fits)
        covered = "\n".join(turn.text for turn in past.turns[:cut])
        for value in (planted.value for planted in (*talk.kept, *talk.changed) if says(covered, planted.value)):
            found.kept_by_sentences.count(says(sentences, value), value)
            if text:
                found.kept.count(says(text, value), value)
        step("summaries by the model")
    return found


def _first_fold(talk: Talk, budget: Budget, model: "LocalChatModel") -> tuple[Layout, int]:
    """The layout of a talk when for the first time something is to be folded, and how many turns are."""
    turns: list[BaseMessage] = []
    for exchange in talk.exchanges:
        number = len(turns) + 1
        turns += [HumanMessage(exchange.user, id=str(number)), AIMessage(exchange.assistant, id=str(number + 1))]
        past = Layout(HumanMessage("."), system(), turns=tuple(turns))
        if cut := summary.due(past, budget, model.count):
            return past, summary.readable(past, cut, budget, model.count)
    return Layout(HumanMessage("."), system(), turns=tuple(turns)), 0


def _ask(model: "LocalChatModel", past: Layout, cut: int, budget: Budget) -> Any:
    return summary.ask(model, past, cut, budget.summary, owner=OWNER, conversation=OWNER)


async def first_tokens(
    model: "LocalChatModel", prompts: Sequence[Sequence[Mapping[str, str]]], step: Step
) -> tuple[list[Value], list[float]]:
    """Seconds until the first token, early and late in a talk, each prompt following on the one before it.

    Before each turn a summary is under way, as after a fold: the turn must not wait for it.
    """
    early, late = _places(len(prompts))
    seconds: dict[int, float] = {}
    for places in (early, late):
        for place in range(max(0, places[0] - 1), places[-1] + 1):
            messages = [_KINDS[each["role"]](each["content"]) for each in prompts[place]]
            if _begins_anew(prompts, place):
                await model.prewarm(messages[:-1], owner=OWNER, conversation=OWNER)
            took = await _first_token(model, messages)
            if place in places:
                seconds[place] = took
            step("time to first token")
    begin, end = (statistics.median(seconds[place] for place in places) for places in (early, late))
    name = f"time to first token at turn {late[-1] + 1} against turn {early[len(early) // 2] + 1}"
    note = f"{begin:.2f} s and {end:.2f} s, medians of {len(early)} turns each"
    return [Value(name, "x", end / begin, good=1.2, note=note)], [begin, end]


def _places(length: int) -> tuple[range, range]:
    """The turns around the 20th, and the last ones."""
    size = min(15, length // 2)
    middle = min(20, length // 2)
    start = max(0, middle - size // 2 - 1)
    return range(start, start + size), range(length - size, length)


def _begins_anew(prompts: Sequence[Sequence[Mapping[str, str]]], place: int) -> bool:
    """After a fold the site reads the new beginning while nobody waits; so it does here."""
    return place == 0 or prompts[place][:2] != prompts[place - 1][:2]


async def _first_token(model: "LocalChatModel", messages: list[BaseMessage]) -> float:
    """Seconds of one turn, sent while a summary is being written."""
    under_way = asyncio.Event()
    in_the_way = asyncio.create_task(_summary_in_the_way(model, messages[:-1], under_way))
    await under_way.wait()
    began = time.perf_counter()
    try:
        async for chunk in model.astream(messages, owner=OWNER, conversation=OWNER, max_tokens=2):
            if chunk.text:
                break
        return time.perf_counter() - began
    finally:
        in_the_way.cancel()
        await asyncio.gather(in_the_way, return_exceptions=True)


async def _summary_in_the_way(model: "LocalChatModel", messages: list[BaseMessage], under_way: asyncio.Event) -> None:
    """A request as the keeper's; `under_way` is set with its first word, or when it ends without one."""
    request = [*messages, HumanMessage("Write down what must be remembered.")]
    summary_of = model.bind(owner=OWNER, conversation=OWNER, priority=Priority.SUMMARY, max_tokens=200)
    try:
        async for _ in summary_of.astream(request):
            under_way.set()
    finally:
        under_way.set()


def _role(message: BaseMessage) -> str:
    return {"human": "user", "ai": "assistant", "system": "system"}[message.type]
