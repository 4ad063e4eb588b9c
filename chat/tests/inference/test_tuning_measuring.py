"""Candidates are measured in turn, so that what slows the machine for a while decides nothing."""

import time
from dataclasses import replace

import pytest

from chat.inference.tuning import measuring
from chat.inference.tuning.choice import Speeds
from chat.inference.tuning.fitting import PARTS, fit_settings, thread_counts
from chat.inference.tuning.machine import this_machine
from chat.inference.tuning.measuring import TEXT, THOROUGH, Sizes, fitting, in_turn

TOKENS = list(range(500))


def test_each_has_its_turn_in_every_round():
    turns = []
    in_turn({name: lambda name=name: turns.append(name) or Speeds(1, 1, 1) for name in "ab"}, 3)
    assert "".join(turns) == "ababab"


def test_a_slow_spell_of_the_machine_changes_no_ratio():
    spells = iter([1, 1, 0.1, 0.1, 1, 1])
    speeds = {"a": 100, "b": 200}
    trials = {name: lambda v=value: Speeds(*[v * next(spells)] * 3) for name, value in speeds.items()}
    first, second = in_turn(trials, 3)
    assert second.ratio == Speeds(2, 2, 2)
    assert first.ratio == Speeds(1, 1, 1)
    assert (first.speeds.reading, second.speeds.reading) == (100, 200)


def test_when_the_time_is_up_one_round_must_do():
    turns = []
    in_turn({"a": lambda: turns.append(1) or Speeds(1, 1, 1)}, 5, ends=time.monotonic() - 1)
    assert len(turns) == 1


class Machine:
    """Stands in for a probe: computes nothing, and takes the seconds that its settings cost."""

    def __init__(self, *, per_second=1000.0, best_threads=2, best_size=512, flash=1.0, slowed=0.001):
        self.per_second, self.best_threads, self.best_size, self.flash = per_second, best_threads, best_size, flash
        self.slowed, self.slower = slowed, 1.0

    def set_up(self, *, threads, micro_batch=512, flash_attention=True):
        self.set_threads(threads)
        self.slower *= 1.0 if micro_batch == self.best_size else 1.2
        self.slower *= self.flash if flash_attention else 1.0
        return self

    def set_threads(self, threads):
        self.slower = 1.0 + 0.5 * abs(threads - self.best_threads)

    def read(self, tokens):
        return len(tokens) / self.per_second * self.slower

    def write(self, slots, steps, tokens, *, beside=0):
        return 0.01 * self.slower + beside * self.slowed


def fit(probe, *, seconds=60, cores=2, **machine):
    told = []
    here = replace(this_machine(), cores=cores, threads=machine.get("threads", cores))
    found = fit_settings(probe, TOKENS, THOROUGH, here, told.append, seconds)
    assert told == list(PARTS)
    return found


def test_the_usual_settings_stay_where_nothing_is_better():
    found = fit(Machine())
    assert (found.threads, found.micro_batch, found.flash_attention, found.notes) == (2, 512, True, ())


def test_better_ones_are_found():
    assert fit(Machine(best_threads=1)).threads == 1
    assert fit(Machine(best_threads=4), threads=4).threads == 4
    assert fit(Machine(best_size=128)).micro_batch == 128
    assert not fit(Machine(flash=2.0)).flash_attention


@pytest.mark.parametrize(("slowed", "size"), [(0.0001, 129), (0.001, 65), (0.01, 17)])
def test_the_busy_batch_follows_from_what_writers_would_wait(slowed, size):
    assert fit(Machine(slowed=slowed)).busy_batch == size


def test_without_time_nothing_is_changed_and_it_says_so():
    found = fit(Machine(), seconds=-1)
    assert (found.threads, found.micro_batch, found.busy_batch) == (0, 0, 0)
    assert len(found.notes) == len(PARTS)


@pytest.mark.parametrize(
    ("cores", "threads", "counts"),
    [(1, 1, [1]), (2, 2, [2, 1]), (4, 8, [4, 1, 2, 3, 8]), (16, 32, [16, 8, 12, 15, 32])],
)
def test_the_usual_count_of_threads_comes_first(cores, threads, counts):
    assert thread_counts(replace(this_machine(), cores=cores, threads=threads)) == counts


def test_a_slow_machine_is_measured_with_less():
    assert fitting(Machine(per_second=10_000), TOKENS, THOROUGH) == THOROUGH
    assert fitting(Machine(per_second=5), TOKENS, THOROUGH) == Sizes(reading=32, comparing=64, steps=3)


def test_a_neighbour_is_noticed_by_the_processor_time_that_it_takes(monkeypatch):
    clock = iter(range(100))
    monkeypatch.setattr(measuring.time, "perf_counter", lambda: next(clock))
    worked = iter([0, 1, 1, 2, 2, 3])
    monkeypatch.setattr(measuring.time, "process_time", lambda: next(worked))
    assert measuring.share_of_processors(Machine(), TOKENS, 2) == 0.5


def test_the_text_is_long_enough_for_all_that_is_measured():
    assert len(TEXT.split()) > THOROUGH.comparing
