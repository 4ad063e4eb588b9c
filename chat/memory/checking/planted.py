"""Planted facts: whether they reach the prompt many turns later, in the same words, in others, changed, withdrawn."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from chat import runtime
from chat.memory import vectors
from chat.memory.checking import wording
from chat.memory.checking.looking import holds, newest_counts
from chat.memory.checking.systems import Ours, Shown, System
from chat.memory.checking.talks import Exchange, Planted, Talk
from chat.memory.checking.values import Tally

if TYPE_CHECKING:
    from chat.inference.embedding import Embedder

SAME, OTHER, MEANING, CHANGED, WITHDRAWN, PRONOUN, CANARY = (
    "same words", "other words", "other words, by meaning", "changed", "withdrawn", "pronoun", "canary",
)  # fmt: skip


@dataclass(frozen=True)
class Case:
    """A question as it is put to a model: its prompt by one system, the right value, and wrong ones."""

    system: str
    shown: Shown
    right: str
    wrong: tuple[str, ...]


@dataclass
class Findings:
    """What was found, by measure and system."""

    tallies: defaultdict[tuple[str, str], Tally] = field(default_factory=lambda: defaultdict(Tally))
    cases: list[Case] = field(default_factory=list)

    def count(self, measure: str, system: System, found: bool, case: str) -> None:
        """One more."""
        self.tallies[measure, system.name].count(found, case)

    def share(self, measure: str, system: str) -> float:
        """In per cent; NaN when nothing was counted."""
        return 100 * self.tallies[measure, system].share


async def ask_all(
    talk: Talk, systems: Sequence[System], embedder: "Embedder | None", findings: Findings, step: Callable[[], None]
) -> None:
    """All questions about a talk that all these systems have been through."""
    for ours in systems:
        if embedder and isinstance(ours, Ours):
            await vectors.add_missing(ours.conversation.pk, embedder)
    for planted in talk.kept:
        for system in systems:
            await _ask_kept(talk, planted, system, embedder, findings)
        step()
    for system in systems:
        for measure, facts in ((CHANGED, talk.changed), (WITHDRAWN, talk.withdrawn)):
            for planted in facts:
                shown = await _ask(system, planted.wording.same, talk, findings)
                case = f"talk {talk.seed}, {planted.wording.says!r}: {planted.older} -> {planted.value!r}"
                findings.count(measure, system, newest_counts(shown, planted), f"{case}: {_why(shown, planted)}")
        step()
    for planted in talk.kept[::3]:
        for system in systems:
            await _ask_with_a_pronoun(talk, planted, system, findings)
        step()


async def _ask_kept(
    talk: Talk, planted: Planted, system: System, embedder: "Embedder | None", findings: Findings
) -> None:
    name = f"talk {talk.seed}, {planted.wording.says!r} = {planted.value!r}"
    for measure, question in ((SAME, planted.wording.same), (OTHER, planted.wording.other)):
        with by_words_alone():
            shown = await _ask(system, question, talk, findings)
        findings.count(measure, system, holds(shown, planted.value), f"{name}, asked {question!r}")
        if measure == SAME:
            findings.cases.append(Case(system.name, shown, planted.value, planted.wrong))
    if embedder and isinstance(system, Ours):
        await embedder.aembed([planted.wording.other])  # its patience is short, and the machine may be busy
        shown = await _ask(system, planted.wording.other, talk, findings)
        found = holds(shown, planted.value)
        findings.count(MEANING, system, found, f"{name}, asked {planted.wording.other!r}")


async def _ask_with_a_pronoun(talk: Talk, planted: Planted, system: System, findings: Findings) -> None:
    """After a turn that says what it is about."""
    number = talk.kept.index(planted)
    lead = wording.LEADS[number % len(wording.LEADS)].replace("{t}", planted.wording.topic)
    question = wording.PRONOUNS[number % len(wording.PRONOUNS)]
    if not isinstance(system, Ours):
        return
    head = system.conversation.head_id
    await system.say(Exchange(lead, "All right."), shown=False)
    shown = await _ask(system, question, talk, findings)
    await system.rewind(head)
    findings.count(PRONOUN, system, holds(shown, planted.value), f"talk {talk.seed}, {lead!r} {question!r}")


async def _ask(system: System, question: str, talk: Talk, findings: Findings) -> Shown:
    shown = await system.ask(question)
    for value in talk.canary_values:
        if any(value in message.text for message in shown.messages):
            findings.count(CANARY, system, found=True, case=f"talk {talk.seed}, asked {question!r}: {value}")
    return shown


class by_words_alone:  # noqa: N801 - reads like a statement
    """While inside, memory has no embedding model."""

    def __enter__(self) -> None:
        self._embedder = runtime.embedder()
        runtime.use_embedder(None)

    def __exit__(self, *_: object) -> None:
        runtime.use_embedder(self._embedder)


def _why(shown: Shown, planted: Planted) -> str:
    if planted.value and not holds(shown, planted.value):
        return "the newest value is not there"
    return "an older value is there and nothing says so"
