"""Summaries: when one is due, what it takes in, how the model is asked for it, and whether the answer is sound."""

import re
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.runnables import RunnableLambda

from chat.inference.request import FinishReason, Preempted, Priority
from chat.memory.budget import Budget
from chat.memory.extract import extract
from chat.memory.prompt import Count, Layout, Notes, size, turn_starts
from chat.memory.words import names, numbers, sentences, without_genitive, words

if TYPE_CHECKING:
    from chat.llm import LocalChatModel

_INSTRUCTION = (
    "Write down what must be remembered of our conversation so far, earlier notes included: names, numbers, dates, "
    "facts about me, wishes, decisions, open questions; of each the newest value, and who said it. Plain sentences, "
    "at most {num_words} words, nothing that was not said. Write the notes only."
)
_REQUEST = ChatPromptTemplate.from_messages([MessagesPlaceholder("prefix"), ("human", _INSTRUCTION)])
_REFUSAL = re.compile(
    r"\b(?:I(?:'m| am) sorry|I apologi[sz]e|as an AI|I (?:cannot|can't|can not|am unable|don't have))"
    r"|^(?:sure\b|certainly\b|here (?:is|are)|I(?:'d| would) be happy)",
    re.IGNORECASE,
)
# A sentence that begins with a capital word and goes on like this speaks of somebody or something by name.
_SUBJECT = re.compile(r"^(\w+)(?:'s|\s+(?:is|was|has|had|will|wants?|likes?|lives?|works?|said|says|asked|prefers?)\b)")
_NO_SUBJECTS = frozenset(
    ("the", "a", "user", "assistant", "person", "he", "she", "it", "they", "this", "that", "there", "i", "we", "you")
) | frozenset(("everyone", "nobody", "both", "who", "what", "which", "conversation", "one", "another", "someone"))


class Unusable(Exception):
    """A summary that must not be stored; the text is the kind of its fault, never its content."""


def due(past: Layout, budget: Budget, count: Count) -> int:
    """How many of the turns are to be folded: none below the high mark, else so many that the low one is reached.

    `past.message` stands for the message that will come. The last turn stays verbatim unless it is too large for that.
    Where system prompt, facts, pins and a whole summary leave little room below the high mark, the low one rises with
    them, and nothing is folded before it is worth a summary: else one would be written after each turn.
    """
    if (tokens := count(past.messages())) <= budget.high:
        return 0

    def tokens_from(start: int) -> int:
        return count(past.folded(start).messages()) + budget.summary

    starts = [0, *turn_starts(past.turns)]
    least = tokens_from(starts[-1])
    low = max(budget.low, least + (budget.high - least) // 8)
    point = min(bisect_left(starts, True, key=lambda start: tokens_from(start) <= low), len(starts) - 1)
    if point == len(starts) - 1 and tokens_from(starts[-2]) <= budget.high:
        point -= 1
    freed = tokens - count(replace(past, turns=past.turns[starts[point] :]).messages())
    return starts[point] if freed >= budget.prompt // 4 else 0


def all_but_last(past: Layout, budget: Budget, count: Count) -> int:  # noqa: ARG001 - called like `due`
    """How many of the turns can be folded at a person's wish: all but the last one."""
    return [0, *turn_starts(past.turns)][-2]


def readable(past: Layout, cut: int, budget: Budget, count: Count) -> int:
    """How many of the first `cut` turns the model can read at once, the request and a whole summary after them."""
    starts = [0, *(start for start in turn_starts(past.turns) if start <= cut)]

    def is_too_long(start: int) -> bool:
        request = _REQUEST.format_messages(prefix=prefix(past, start), num_words=budget.summary)
        return count(request) + budget.summary > budget.context

    return starts[max(0, bisect_left(starts, True, key=is_too_long) - 1)]


def prefix(past: Layout, cut: int) -> list[BaseMessage]:
    """The beginning of the live prompt, up to the cut: it is in the engine's cache, and holds what is covered alone."""
    return replace(past, turns=past.turns[:cut]).messages()[:-1]


async def ask(
    model: "LocalChatModel", past: Layout, cut: int, max_tokens: int, *, owner: str, conversation: str
) -> str:
    """The model's summary of notes and the first `cut` turns. Raises Preempted, Unusable, or what the model raises."""
    request = {"owner": owner, "conversation": conversation, "priority": Priority.SUMMARY, "max_tokens": max_tokens}
    writer = model.bind(**request, temperature=0.0, thinking=False)
    chain = _REQUEST | writer | RunnableLambda(_finished)
    text: str = await chain.ainvoke({"prefix": prefix(past, cut), "num_words": max(8, max_tokens // 2)})
    return text


def is_smaller(past: Layout, cut: int, budget: Budget, count: Count) -> Callable[[str], bool]:
    """Whether a text, as notes, keeps within its budget and takes less room than what it replaces."""
    rest = past.folded(cut)
    limit = min(budget.summary, count(past.messages()) - count(rest.messages()) - 1)
    return lambda text: size(Notes(text), past, count) <= limit


def extracted(past: Layout, cut: int, fits: Callable[[str], bool]) -> str:
    """Key sentences of the notes and the first `cut` turns; empty when not even a word would be smaller than those."""
    text = extract(past.notes.text if past.notes else "", past.turns[:cut], fits)
    return text or ("Nothing to note." if fits("Nothing to note.") else "")


def check(text: str, past: Layout, cut: int, fits: Callable[[str], bool]) -> str:
    """The summary as it is to be stored. Raises Unusable if it cannot be trusted.

    Names and numbers must stand in what it covers or in the notes that it grew from, most other words too, and of the
    names and numbers that key sentences of the same length would keep, it must keep half.
    """
    text = text.strip()
    source = "\n".join([past.notes.text if past.notes else "", *(turn.text for turn in past.turns[:cut])])
    said, known = words(text), {without_genitive(word) for word in words(source)}
    if not said:
        raise Unusable("empty")
    if not fits(text):
        raise Unusable("too long")
    if _REFUSAL.search(text[:200]):
        raise Unusable("not a summary")
    if _runs(said) & _runs(words(_INSTRUCTION)):
        raise Unusable("repeats the instruction")
    if (_named(text) | _subjects(text)) - known or numbers(text) - numbers(source):
        raise Unusable("invented names or numbers")
    if not _is_supported(said, known):
        raise Unusable("speaks of something else")
    key = extract(past.notes.text if past.notes else "", past.turns[:cut], fits)
    facts = _named(key) | numbers(key)
    if 2 * len(facts & (set(said) | _named(text) | numbers(text))) < len(facts):
        raise Unusable("forgets facts")
    return text


def _finished(answer: AIMessage) -> str:
    reason = answer.response_metadata.get("finish_reason", FinishReason.STOP)
    if reason == FinishReason.PREEMPTED:
        raise Preempted("Somebody more urgent came.")
    if reason != FinishReason.STOP:
        raise Unusable(f"ended by {reason}")
    return answer.text


def _runs(said: list[str]) -> set[tuple[str, ...]]:
    return {tuple(said[at : at + 5]) for at in range(len(said) - 4)}


def _named(text: str) -> set[str]:
    return {name for sentence in sentences(text) for name in names(sentence)}


def _subjects(text: str) -> set[str]:
    found = (_SUBJECT.match(sentence.replace("’", "'")) for sentence in sentences(text))
    return {match[1].casefold() for match in found if match and match[1][0].isupper()} - _NO_SUBJECTS


def _is_supported(said: list[str], known: set[str]) -> bool:
    """Whether half of the words with a meaning begin like words of the source, or are its characters."""
    beginnings = {word[:5] for word in known}
    meant = [word for word in said if len(word) > 3 or not word.isascii()]
    return 2 * sum(word[:5] in beginnings or word in known for word in meant) >= len(meant)
