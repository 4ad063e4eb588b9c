"""Lets the servers do the same work in turn, and compares what they needed."""

import asyncio
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from statistics import median

from benchmarks import servers
from benchmarks.client import Client, Message, Reply
from benchmarks.scenarios import Measured, Visit
from benchmarks.servers import Home, Server, Setup
from benchmarks.targets import Target, Work
from benchmarks.vocabulary import Vocabulary

OURS, PEER, TUNED = "ours", "peer", "tuned"
# Seconds after which a scenario at one server counts as stuck.
_PATIENCE = 300


@dataclass(frozen=True)
class Comparison:
    """What each turn measured at each server, for one target; the lists go together, turn by turn."""

    target: Target
    ours: list[float]
    peer: list[float]
    tuned: list[float] = field(default_factory=list)

    def ratios(self, own: list[float]) -> list[float]:
        """Ours to the peer's, turn by turn: what disturbs a machine disturbs neighbours in time alike."""
        return [one / other for one, other in zip(own, self.peer, strict=True)]

    def ratio(self, own: list[float]) -> float:
        """The median of the turns' ratios."""
        return median(self.ratios(own))


@dataclass(frozen=True)
class Files:
    """The model's file, which both serve, and the same model with prepared weights, which only ours serves."""

    model: Path
    tuned: Path | None


class Match:
    """Servers of one setup. `say` is told what happens."""

    def __init__(self, running: Mapping[str, Server], vocabulary: Vocabulary, say: Callable[[str], None]) -> None:
        self._running, self._vocabulary, self._say = running, vocabulary, say

    def play(self, work: Work, turns: int) -> list[Comparison]:
        """Do this work so many times at each server, one server after the other."""
        measured: dict[str, list[Measured]] = {name: [] for name in self._running}
        for turn in range(turns):
            seed = secrets.token_hex(8)
            names = list(self._running)
            for name in names if turn % 2 == 0 else reversed(names):
                figures = self._visit(name, work, Random(seed))  # noqa: S311 (words, no secrets)
                measured[name].append(figures)
                shown = ", ".join(f"{key} {value:.4g}" for key, value in figures.items())
                self._say(f"{work.name}, turn {turn + 1} of {turns}, {name}: {shown}")
        return [
            Comparison(
                target, *([one[target.figure] for one in measured.get(name, [])] for name in (OURS, PEER, TUNED))
            )
            for target in work.targets
        ]

    def _visit(self, name: str, work: Work, rng: Random) -> Measured:
        server = self._running[name]
        client = Client(server.url, server.key, self._vocabulary.no_end)
        with awake(server):
            return asyncio.run(_within(work, Visit(client, self._vocabulary, rng)))


@contextmanager
def awake(server: Server) -> Iterator[None]:
    """Let a paused server run for a while."""
    server.resume()
    try:
        yield
    finally:
        server.pause()


def compare(
    works: Iterable[Work], files: Files, home: Home, threads: int, turns: int, say: Callable[[str], None]
) -> list[Comparison]:
    """All works in their order, each setup's servers started once."""
    vocabulary = Vocabulary.of(files.model)
    comparisons, works = [], list(works)
    for setup in dict.fromkeys(Setup(work.slots, work.context, threads) for work in works):
        with started(files, home, setup) as running:
            match = Match(running, vocabulary, say)
            for work in works:
                if (work.slots, work.context) == (setup.slots, setup.context):
                    comparisons += match.play(work, turns)
    return comparisons


@contextmanager
def started(files: Files, home: Home, setup: Setup) -> Iterator[dict[str, Server]]:
    """The servers by their names, warm and paused."""
    with ExitStack() as stack:
        running = {OURS: stack.enter_context(servers.ours(home, files.model, setup))}
        running[OURS].pause()
        running[PEER] = stack.enter_context(servers.peer(home, files.model, setup))
        running[PEER].pause()
        if files.tuned:
            running[TUNED] = stack.enter_context(servers.ours(home, files.tuned, setup))
            running[TUNED].pause()
        for server in running.values():
            with awake(server):
                asyncio.run(_warm_up(Client(server.url, server.key), setup.slots))
        yield running


async def _warm_up(client: Client, slots: int) -> None:
    """Touch every slot, in the way that the measurements do."""
    prompt = [{"role": "user", "content": "Count as far as you can. " * 40}]
    await asyncio.gather(*(_read_through(client, prompt) for _ in range(slots)))


async def _read_through(client: Client, prompt: list[Message]) -> None:
    async for _ in client.stream(prompt, 16, Reply()):
        pass


async def _within(work: Work, visit: Visit) -> Measured:
    async with asyncio.timeout(_PATIENCE):
        return await work.run(visit)
