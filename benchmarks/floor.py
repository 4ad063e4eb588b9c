"""What the web and Python cost: tokens a second of the site over HTTP beside those of `llama_decode` alone."""

import asyncio
import secrets
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random
from statistics import median

from benchmarks.client import Client, Reply
from benchmarks.comparing import awake
from benchmarks.servers import ROOT, Home, Server, Setup, environment, ours
from benchmarks.vocabulary import Vocabulary

SIZES = (1, 4, 8)
LEAST = 0.95  # web and Python cost at most a twentieth
_WORDS, _REPLY_TOKENS = 100, 128
# Where the bare loop begins to write: the words and what a template adds to them.
_DEPTH = 130


class BareProcess:
    """The bare loop, asked line by line."""

    def __init__(self, child: "subprocess.Popen[str]") -> None:
        self._child = child

    def measure(self, batch: int, depth: int, steps: int) -> tuple[float, float]:
        """Tokens a second of reading `depth` tokens, then of writing `steps` in each of `batch` sequences."""
        assert self._child.stdin, "it is a pipe"
        assert self._child.stdout, "it is a pipe"
        self._child.stdin.write(f"{batch} {depth} {steps}\n")
        self._child.stdin.flush()
        read, write = map(float, self._child.stdout.readline().split())
        return read, write


@contextmanager
def bare(home: Home, model: Path, setup: Setup) -> Iterator[BareProcess]:
    """Start the bare loop."""
    numbers = [str(number) for number in (setup.slots, setup.context, setup.threads)]
    command = [sys.executable, "-m", "benchmarks.bare", str(model), *numbers]
    with subprocess.Popen(
        command, cwd=ROOT, env=environment(home.path), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        try:
            yield BareProcess(child)
        finally:
            child.kill()


def floor(
    home: Home, model: Path, threads: int, turns: int, say: Callable[[str], None]
) -> dict[int, list[list[float]]]:
    """For each number of clients, turn by turn: tokens a second of the bare loop, and of ours over HTTP."""
    vocabulary, setup = Vocabulary.of(model), Setup(max(SIZES), 1024, threads)
    measured: dict[int, list[list[float]]] = {size: [] for size in SIZES}
    with bare(home, model, setup) as loop, ours(home, model, setup) as server:
        server.pause()
        for turn in range(turns + 1):
            for size in SIZES:
                pair = [loop.measure(size, _DEPTH, _REPLY_TOKENS)[1], _over_http(server, vocabulary, size)]
                if turn:  # the first one warms up
                    measured[size].append(pair)
                    say(f"{size} at once: {pair[0]:.1f} tokens a second bare, {pair[1]:.1f} over HTTP")
    return measured


def _over_http(server: Server, vocabulary: Vocabulary, size: int) -> float:
    rng = Random(secrets.token_hex(8))  # noqa: S311 (words, no secrets)
    prompts = [[{"role": "user", "content": vocabulary.text(rng, _WORDS)}] for _ in range(size)]
    client = Client(server.url, server.key, vocabulary.no_end)

    async def ask() -> list[Reply]:
        async with asyncio.timeout(300):
            return await asyncio.gather(*(client.chat(prompt, _REPLY_TOKENS) for prompt in prompts))

    with awake(server):
        return speed_together(asyncio.run(ask()))


def speed_together(replies: Sequence[Reply]) -> float:
    """Tokens a second of all replies, over the time in which every one of them was being written."""
    begin, end = max(reply.times[0] for reply in replies), min(reply.times[-1] for reply in replies)
    tokens = 0.0
    for reply in replies:
        pieces = sum(begin < moment <= end for moment in reply.times)
        tokens += pieces * reply.completion_tokens / len(reply.times)
    return tokens / (end - begin)


def floor_rows(measured: dict[int, list[list[float]]]) -> list[list[str]]:
    """Rows for people."""
    rows = [["clients", "llama_decode alone", "over HTTP", "ratio", "bound", ""]]
    for size, pairs in measured.items():
        alone, over = (median(pair[place] for pair in pairs) for place in (0, 1))
        shown = [f"{alone:.0f} tokens/s", f"{over:.0f} tokens/s", f"{share(pairs):.3f}", f">= {LEAST:g}"]
        rows.append([str(size), *shown, "met" if share(pairs) >= LEAST else "NOT met"])
    return rows


def share(pairs: list[list[float]]) -> float:
    """What is left of the bare speed over HTTP: the median of the turns."""
    return median(over / alone for alone, over in pairs)
