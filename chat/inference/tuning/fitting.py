"""Settings of the engine that suit a model on a machine: threads, how batches are cut, how attention is computed."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from statistics import median

from chat.inference.config import MICRO_BATCH
from chat.inference.tuning.choice import Measured, Speeds, choose_busy_batch, choose_setting
from chat.inference.tuning.machine import Machine
from chat.inference.tuning.measuring import Sizes, in_turn, speeds
from chat.inference.tuning.probe import Probe

PARTS = ("threads", "batches", "busy batch")
_ROUNDS = 3
_MICRO_BATCHES = (256, 128)
_PIECES = (17, 33, 49, 65, 97, 129)
_WRITERS = 4


@dataclass(frozen=True)
class Settings:
    """What was found; 0 where nothing was measured, and then the usual value holds."""

    threads: int = 0
    micro_batch: int = 0
    busy_batch: int = 0
    flash_attention: bool = True
    table: tuple[Measured, ...] = ()
    notes: tuple[str, ...] = ()


def fit_settings(
    probe: Probe, tokens: Sequence[int], sizes: Sizes, machine: Machine, tell: Callable[[str], None], seconds: float
) -> Settings:
    """Fit one part after the other, each with what was found before; none for which no time is left."""
    ends, found = time.monotonic() + seconds, Settings()
    parts = (_fit_threads, _fit_batches, _fit_busy_batch)
    for part, name in zip(parts, PARTS, strict=True):
        tell(name)
        if time.monotonic() >= ends:
            found = replace(found, notes=(*found.notes, f"{name}: not measured, the time is up."))
            continue
        found = part(found, probe, tokens, sizes, machine)
    return found


def thread_counts(machine: Machine) -> list[int]:
    """The usual count first, then others worth trying: all up to four cores, some of more, and siblings too."""
    cores = machine.cores
    few = range(1, cores) if cores <= 4 else (cores // 2, cores * 3 // 4, cores - 1)
    return list(dict.fromkeys([cores, *few, machine.threads]))


def _fit_threads(found: Settings, probe: Probe, tokens: Sequence[int], sizes: Sizes, machine: Machine) -> Settings:
    probe.set_up(threads=machine.cores)

    def trial(count: int) -> Speeds:
        probe.set_threads(count)
        return speeds(probe, tokens, sizes)

    counts = thread_counts(machine)
    lines = in_turn({_counted(count, "thread"): partial(trial, count) for count in counts}, _ROUNDS)
    best = counts[lines.index(choose_setting(lines))]
    return replace(found, threads=best, table=(*found.table, *lines))


def _fit_batches(found: Settings, probe: Probe, tokens: Sequence[int], sizes: Sizes, _: Machine) -> Settings:
    """Longer prompts than elsewhere, since attention and batches matter there."""
    longer = replace(sizes, reading=min(len(tokens), sizes.reading * 2))

    def trial(micro_batch: int, flash_attention: bool) -> Speeds:
        probe.set_up(threads=found.threads, micro_batch=micro_batch, flash_attention=flash_attention)
        probe.read(tokens[:8])
        return speeds(probe, tokens, longer)

    variants = [(MICRO_BATCH, True), *((size, True) for size in _MICRO_BATCHES), (MICRO_BATCH, False)]
    names = ["usual batches", *(f"batches of {size}" for size in _MICRO_BATCHES), "no flash attention"]
    lines = in_turn({name: partial(trial, *variant) for name, variant in zip(names, variants, strict=True)}, _ROUNDS)
    micro_batch, flash_attention = variants[lines.index(choose_setting(lines))]
    return replace(found, micro_batch=micro_batch, flash_attention=flash_attention, table=(*found.table, *lines))


def _fit_busy_batch(found: Settings, probe: Probe, tokens: Sequence[int], sizes: Sizes, _: Machine) -> Settings:
    probe.set_up(threads=found.threads, micro_batch=found.micro_batch, flash_attention=found.flash_attention)
    steps: dict[int, list[float]] = {size: [] for size in (0, *_PIECES)}
    for _round in range(_ROUNDS):
        for size, seen in steps.items():
            seen.append(probe.write(_WRITERS, max(2, sizes.steps // 4), tokens[:8], beside=size))
    alone, *beside = (median(seen) for seen in steps.values())
    return replace(found, busy_batch=choose_busy_batch(alone, dict(zip(_PIECES, beside, strict=True))))


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
