"""The table says what is good, what was met, what was not measured; the growth of what is read is told from noise."""

import math
import random

import pytest

from chat.memory.budget import Budget
from chat.memory.checking.reading import RuleReader
from chat.memory.checking.values import Report, Tally, Value, table
from chat.memory.checking.watching import Watch, growth, share_reused


@pytest.mark.parametrize(
    ("value", "met"),
    [
        (Value("share", "%", 95.0, 95, more_is_better=True), True),
        (Value("share", "%", 94.9, 95, more_is_better=True), False),
        (Value("count", "", 0, 0), True),
        (Value("count", "", 1, 0), False),
        (Value("not measured", "%", math.nan, 80, more_is_better=True), False),
        (Value("only shown", "%", 12.0), None),
    ],
)
def test_a_value_is_met_from_its_limit_on(value, met):
    assert value.met is met


def test_a_measure_that_a_window_passes_tells_nothing():
    assert Value("share", "%", 99.0, 95, more_is_better=True, window=5.0, short=20).tells_apart is True
    assert Value("share", "%", 99.0, 95, more_is_better=True, window=60.0, short=20).tells_apart is False
    assert Value("share", "%", 99.0, 95, more_is_better=True).tells_apart is None


def report(*values):
    return Report("a rule", {}, list(values))


def test_one_value_that_is_not_met_or_not_measured_is_enough_to_fail():
    good, bad = Value("good", "", 0, 0), Value("bad", "", math.nan, 0)
    assert report(good).all_met
    assert report(good).summary == "1 of 1 values met"
    assert not report(good, bad).all_met
    assert report(good, bad).summary == "1 of 2 values met; not: bad"
    assert not report().all_met


def test_figures_come_back_as_they_were():
    value = Value("share", "%", 99.5, 95, more_is_better=True, window=math.nan, misses=["a"])
    again = Value.of(value.figures())
    assert again.figures() == value.figures()
    assert math.isnan(again.window)
    assert value.figures()["window"] is None


def test_the_table_has_a_row_for_each_value():
    lines = table([Value("share", "%", 99.5, 95, more_is_better=True), Value("left", "", math.nan, 0)]).splitlines()
    assert len({len(line) for line in lines}) == 1
    assert "99.5 %" in lines[2]
    assert "at least 95 %" in lines[2]
    assert lines[3].endswith("| not measured |")


def test_a_tally_keeps_what_it_missed():
    tally = Tally()
    tally.count(True, "one")
    tally.count(False, "two")
    assert (tally.share, tally.misses) == (0.5, ["two"])
    assert math.isnan(Tally().share)


def watch(read):
    watch = Watch(None, RuleReader(), Budget.of(2048, 512))
    watch.read_tokens = list(read)
    watch.shown_tokens = [100] * len(watch.read_tokens)
    return watch


def test_noise_is_no_growth_and_a_slope_is():
    rng = random.Random(1)
    level = [watch(50 + rng.random() * 40 for _ in range(220)) for _ in range(2)]
    rising = [watch(50 + turn + rng.random() * 40 for turn in range(220))]
    assert growth(level) == 0
    assert growth(rising) > 0.5
    assert math.isnan(growth([watch([50] * 60)]))


def test_the_share_that_the_cache_held():
    assert share_reused([watch([25] * 4)]) == 0.75
    assert math.isnan(share_reused([]))
