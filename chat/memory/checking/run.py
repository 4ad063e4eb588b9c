"""A run over seeded conversations: what each system shows of them, and the values that come of it."""

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from django.conf import settings

from accounts.models import User
from chat import runtime
from chat.database import in_database
from chat.memory.budget import Budget
from chat.memory.checking.faults import under_faults
from chat.memory.checking.forgetting import forgotten
from chat.memory.checking.planted import CANARY, CHANGED, MEANING, OTHER, PRONOUN, SAME, WITHDRAWN, Findings, ask_all
from chat.memory.checking.reading import ROLES, Reader, RuleReader, reader_for
from chat.memory.checking.scripted import ScriptedChat
from chat.memory.checking.systems import Ours, System, references
from chat.memory.checking.talks import Talk, make_talk
from chat.memory.checking.values import Report, Tally, Value
from chat.memory.checking.watching import LONG, STEADY, Watch, growth, share_reused

# Turns in which the other systems are watched: what they read changes little after that, and a whole history of a
# thousand turns would be counted anew in each of them.
_WATCHED = 300


@dataclass(frozen=True)
class Options:
    """What is run. `turns` come between a fact and the question about it; `context` is the model's, in tokens."""

    turns: int = 200
    seed: int = 1
    context: int = 2048
    talks: int = 1  # conversations that are watched turn by turn
    more: int = 3  # further ones whose facts alone are asked for
    lengths: tuple[int, ...] = (10, 50, 1000)  # of others, for what must hold at any length
    fault_turns: int = 8
    exact: bool = False  # tokens by the configured model's vocabulary


def quick(options: Options) -> Options:
    """Fewer conversations: a look in between, whose shares are rough."""
    return replace(options, more=0, lengths=(10,), fault_turns=4)


class Run:
    """One run. `tell` is called with `done`, `of` and `what` as it goes on."""

    def __init__(self, options: Options, folder: Path, tell: Callable[..., None] = lambda **_: None) -> None:
        self.options, self.folder = options, folder
        self.reader: Reader = reader_for(settings.LLM_MODEL_PATH) if options.exact else RuleReader()
        self.model = ScriptedChat(reader=self.reader, context_tokens=options.context)
        self.budget = Budget.of(options.context, settings.LLM_MAX_REPLY_TOKENS)
        self.findings, self.after_many = Findings(), Findings()
        self.watches: dict[str, list[Watch]] = {}
        self.num_summaries = 0
        self.others: list[Watch] = []
        self._tell, self._done, self._what = tell, 0, ""
        self._num_whole = 0  # conversations that everything is known of
        self._of = (
            sum(self._turns_of(talk) for talk in self._talks()) + 30 * options.more + 10 * len(options.lengths) + 11
        )

    async def report(self) -> Report:
        """Everything measured."""
        self._owner, self._other = await in_database(_people)
        for talk in self._talks():
            await self._whole(talk)
        for number in range(self.options.talks, self.options.talks + self.options.more):
            await self._facts_of(make_talk(self.options.seed + number, self.options.turns))
        for length in self.options.lengths:
            await self._of_length(length)
        self._what = "faults of the summariser"
        faulty = make_talk(self.options.seed + 50, self.options.fault_turns, num_facts=4)
        covered, unwaited, watches = await under_faults(faulty, self._owner, self.model, self.reader, self._step)
        self.others += watches
        self._what = "forgetting"
        short = make_talk(self.options.seed + 60, 40, num_facts=4)
        traces = await forgotten(short, self._owner, self.model, self.folder)
        self._step()
        return self._report(self._values(covered, unwaited, traces))

    def so_far(self) -> Report | None:
        """Of a run that does not go on: what has been measured. None before a conversation has been watched whole."""
        if not self._num_whole:
            return None
        values = self._values(Tally(), Tally(), Tally())
        return self._report([value for value in values if not math.isnan(value.ours)])

    def cases(self) -> dict[str, Any]:
        """For a model: questions with their prompts by system, and the prompts of one talk turn by turn."""
        turns = self.watches["ours"][0].prompts
        return {
            "questions": [
                {
                    "system": case.system,
                    "messages": _plain(case.shown.messages),
                    "right": case.right,
                    "wrong": case.wrong,
                }
                for case in self.findings.cases
            ],
            "turns": [_plain(shown.messages) for shown in turns],
        }

    def _report(self, values: list[Value]) -> Report:
        embedder = runtime.embedder()
        return Report(
            tokens_by=self.reader.name,
            options=asdict(self.options),
            values=values,
            embedder=embedder.info.name if embedder else "",
        )

    def _talks(self) -> list[Talk]:
        seeds = range(self.options.seed, self.options.seed + self.options.talks)
        return [make_talk(seed, self.options.turns) for seed in seeds]

    def _turns_of(self, talk: Talk) -> int:
        return len(talk.exchanges) + len(talk.kept) + 1 + len(talk.kept[::3])

    async def _whole(self, talk: Talk) -> None:
        """Every turn with every system, then every question."""
        self._what = f"conversation {talk.seed}, {len(talk.exchanges)} turns"
        ours = await self._begin(talk)
        systems: list[System] = [ours, *references(self.model, self.budget)]
        watches = [Watch(system, self.reader, self.budget) for system in systems]
        for number, exchange in enumerate(talk.exchanges):
            for watch in watches:
                if watch.system is ours or number < _WATCHED:
                    await watch.say(exchange, talk.attacks)
                else:
                    await watch.system.say(exchange, shown=False)
            self._step()
        for watch in watches:
            self.watches.setdefault(watch.system.name, []).append(watch)
        self.num_summaries += await in_database(ours.conversation.summaries.count)
        await ask_all(talk, systems, runtime.embedder(), self.findings, self._step)
        self._num_whole += 1

    async def _facts_of(self, talk: Talk) -> None:
        """Without a prompt for each turn: the questions alone."""
        self._what = f"conversation {talk.seed}, its facts"
        ours = await self._begin(talk)
        await ours.fill(talk.exchanges)
        systems: list[System] = [ours, *references(self.model, self.budget)]
        for system in systems[1:]:
            for exchange in talk.exchanges:
                await system.say(exchange, shown=False)
        await ask_all(talk, systems, runtime.embedder(), self.findings, self._step)

    async def _of_length(self, length: int) -> None:
        """Prompts now and then, and at the end the questions."""
        self._what = f"a conversation of {length} turns"
        talk = make_talk(self.options.seed + length, length * 3 // 4, num_facts=max(2, min(28, length // 5)))
        ours = await self._begin(talk)
        watch = Watch(ours, self.reader, self.budget)
        self.others.append(watch)
        each = max(5, len(talk.exchanges) // 10)
        for start in range(0, len(talk.exchanges), each):
            await ours.fill(talk.exchanges[start : start + each - 1])
            await watch.say(talk.exchanges[min(start + each, len(talk.exchanges)) - 1], talk.attacks)
            self._step()
        await ask_all(talk, [ours], runtime.embedder(), self.after_many, lambda: None)

    async def _begin(self, talk: Talk) -> Ours:
        """A new conversation beside others of the same person and of another that hold the same facts otherwise."""
        for owner, whose in ((self._owner, "own"), (self._other, "other")):
            beside = await Ours.begin(owner, self.model)
            await beside.fill(talk.canaries[whose])
        return await Ours.begin(self._owner, self.model)

    def _step(self) -> None:
        self._done += 1
        self._tell(done=min(self._done, self._of), of=self._of, what=self._what)

    def _values(self, covered: Tally, unwaited: Tally, traces: Tally) -> list[Value]:
        after = f"after {self.options.turns} turns"
        values = [
            self._found(SAME, f"planted fact in the prompt {after}, same words", good=95, short=20),
            self._found(OTHER, f"planted fact in the prompt {after}, other words, full text only", good=50, short=20),
            self._found(MEANING, f"planted fact in the prompt {after}, other words, with embeddings", good=80),
            self._found(CHANGED, "updated fact: newest value there, older ones marked", good=98),
            self._traces(traces),
            self._canaries(),
            self._over(),
            _of_tally("turns that nothing covers, under any fault of the summariser", covered),
            _of_tally("turns that waited for a summary", unwaited),
            self._summaries(),
            self._reused(),
        ]
        if self.options.turns >= LONG - STEADY:
            values.append(self._growth())
        apart = [value for value in values if value.tells_apart is False]
        values.append(
            Value("measures in which a sliding window does not fall short", "", len(apart), good=0,
                  misses=[value.name for value in apart])
        )  # fmt: skip
        return [*values, *self._shown_only()]

    def _found(self, measure: str, name: str, good: float | None = None, short: float | None = None) -> Value:
        shares = {system: self.findings.share(measure, system) for system in self.watches}
        return Value(
            name, "%", shares["ours"], good, more_is_better=True,
            window=shares["window"], summary_only=shares["summary only"], full_history=shares["full history"],
            short=short, misses=self.findings.tallies[measure, "ours"].misses,
        )  # fmt: skip

    def _traces(self, traces: Tally) -> Value:
        left = float(len(traces.misses)) if traces.total else math.nan
        return Value("traces of a forgotten fact in prompt, tables, index, files", "", left, 0, misses=traces.misses)

    def _canaries(self) -> Value:
        tallies = [findings.tallies[CANARY, "ours"] for findings in (self.findings, self.after_many)]
        seen = sum(tally.hits for tally in tallies)
        return Value("canaries of other people or conversations in a prompt", "", seen, 0)

    def _over(self) -> Value:
        watches = [*self.watches["ours"], *self.others]
        over = sum(watch.num_over for watch in watches)
        full = sum(watch.num_over for watch in self.watches["full history"])
        window = sum(watch.num_over for watch in self.watches["window"])
        only = sum(watch.num_over for watch in self.watches["summary only"])
        return Value("prompts over the budget", "", over, 0, window=window, summary_only=only, full_history=full)

    def _summaries(self) -> Value:
        turns = sum(len(watch.read_tokens) for watch in self.watches["ours"])
        return Value("summaries per 100 turns", "", 100 * self.num_summaries / turns, 10)

    def _reused(self) -> Value:
        shares = {name: 100 * share_reused(watches) for name, watches in self.watches.items()}
        return Value(
            "tokens reused from the cache", "%", shares["ours"], 60, more_is_better=True,
            window=shares["window"], summary_only=shares["summary only"], full_history=shares["full history"],
            short=20 if self.options.turns >= LONG - STEADY else None,  # at the beginning everything fits
        )  # fmt: skip

    def _growth(self) -> Value:
        grown = {name: 100 * growth(watches) for name, watches in self.watches.items()}
        return Value(
            f"growth of tokens read a turn, turns {STEADY} to {LONG}", "%", grown["ours"], 0,
            window=grown["window"], summary_only=grown["summary only"], full_history=grown["full history"],
        )  # fmt: skip

    def _shown_only(self) -> list[Value]:
        """What nothing is demanded of, for whoever wants to make it better."""
        watches = [*self.watches["ours"], *self.others]
        read = {name: _mean([watch.read_tokens for watch in some]) for name, some in self.watches.items()}
        values = [
            Value("messages in no part of an ordinary prompt", "", sum(watch.num_uncovered for watch in watches)),
            Value("lines of an attack that stand unquoted in notes or passages", "",
                  sum(watch.num_unquoted for watch in watches)),
            self._found(WITHDRAWN, "withdrawn fact: gone, or followed by its withdrawal"),
            self._found(PRONOUN, "question without content words, after a turn about it"),
            Value("tokens read a turn", "", read["ours"], window=read["window"], summary_only=read["summary only"],
                  full_history=read["full history"]),
        ]  # fmt: skip
        if self.after_many.tallies:
            for measure, how in ((SAME, "same words"), (OTHER, "other words"), (MEANING, "with embeddings")):
                tally = self.after_many.tallies[measure, "ours"]
                name = f"fact in the prompt in conversations of other lengths, {how}"
                values.append(Value(name, "%", 100 * tally.share, more_is_better=True, misses=tally.misses))
        return values


def _of_tally(name: str, tally: Tally) -> Value:
    return Value(name, "", float(len(tally.misses)) if tally.total else math.nan, 0, misses=tally.misses)


def _mean(rows: list[list[int]]) -> float:
    return round(sum(map(sum, rows)) / max(1, sum(map(len, rows))))


def _plain(messages: Any) -> list[dict[str, str]]:
    return [{"role": ROLES[message.type], "content": message.text} for message in messages]


def _people() -> tuple[User, User]:
    make = User.objects.create_user
    return make("check", "check@example.org"), make("other", "other@example.org")
