"""Measures candidates in turn with what they would replace, so that a busy neighbour slows all of them alike."""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from chat.inference.tuning.choice import Measured, Speeds
from chat.inference.tuning.probe import SLOTS, Probe

# Our own prose and code, in several languages, under this project's licence.
TEXT = (Path(__file__).parent / "text.txt").read_text(encoding="utf-8")

_DEPTH = 8

Trial = Callable[[], Speeds]


@dataclass(frozen=True)
class Sizes:
    """How much is measured, in tokens and steps: less where a machine is slow or a model large."""

    reading: int
    comparing: int
    steps: int


THOROUGH = Sizes(reading=160, comparing=384, steps=10)
QUICK = Sizes(reading=64, comparing=96, steps=6)


def fitting(probe: Probe, tokens: Sequence[int], most: Sizes) -> Sizes:
    """Sizes at which reading takes about a second and comparing three, at most those given."""
    probe.read(tokens[:16])
    per_second = 64 / probe.read(tokens[:64])
    return Sizes(
        reading=_between(32, per_second, most.reading),
        comparing=_between(64, per_second * 3, most.comparing),
        steps=_between(3, per_second / 16, most.steps),
    )


def speeds(probe: Probe, tokens: Sequence[int], sizes: Sizes) -> Speeds:
    """One measurement of each kind; replies are written after few tokens, which are read once for each of eight."""
    return Speeds(
        reading=sizes.reading / probe.read(tokens[: sizes.reading]),
        writing=1 / probe.write(1, sizes.steps, tokens[:_DEPTH]),
        writing_many=SLOTS / probe.write(SLOTS, max(2, sizes.steps // 2), tokens[:_DEPTH]),
    )


def share_of_processors(probe: Probe, tokens: Sequence[int], threads: int) -> float:
    """How much of so many processors reading a prompt got, the median of three times; 1 where all are free."""
    shares = []
    for _ in range(3):
        began, worked = time.perf_counter(), time.process_time()
        probe.read(tokens)
        shares.append((time.process_time() - worked) / threads / (time.perf_counter() - began))
    return median(shares)


def in_turn(trials: dict[str, Trial], rounds: int, *, ends: float = math.inf) -> list[Measured]:
    """Medians over the rounds, in each of which every candidate has its turn; ratios are to the first of the same one.

    No round begins after the monotonic time `ends`, but for the first.
    """
    seen: dict[str, list[Speeds]] = {name: [] for name in trials}
    for number in range(rounds):
        if number and time.monotonic() > ends:
            break
        for name, trial in trials.items():
            seen[name].append(trial())
    firsts = next(iter(seen.values()))
    return [
        Measured(name, _middle(found), _middle([one.over(first) for one, first in zip(found, firsts, strict=True)]))
        for name, found in seen.items()
    ]


def _between(least: int, wanted: float, most: int) -> int:
    return int(min(most, max(least, wanted)))


def _middle(found: Sequence[Speeds]) -> Speeds:
    return Speeds(
        median(one.reading for one in found),
        median(one.writing for one in found),
        median(one.writing_many for one in found),
    )
