"""What is chosen follows from the table alone."""

import pytest

from chat.inference.tuning.choice import (
    Divergence,
    Measured,
    Speeds,
    choose_busy_batch,
    choose_format,
    choose_setting,
)

ORIGINAL = Measured("original", Speeds(300, 80, 100), Speeds(1, 1, 1))


def line(name, reading, writing=1.0, many=1.0, kl=0.005):
    return Measured(name, Speeds(1, 1, 1), Speeds(reading, writing, many), Divergence(kl, 0.97))


def chosen(*others, **options):
    return choose_format([ORIGINAL, *others], **options).name


def test_the_faster_one_is_taken():
    assert chosen(line("Q8_0", 2.0), line("Q6_K", 1.5)) == "Q8_0"


def test_one_that_is_hardly_faster_is_not_worth_a_change():
    assert chosen(line("Q8_0", 1.15)) == "original"
    assert chosen(line("Q8_0", 0.5)) == "original"
    assert chosen() == "original"


def test_a_fast_one_that_says_other_things_is_left_out():
    assert chosen(line("Q4_0", 4.0, kl=0.27), line("Q8_0", 2.0)) == "Q8_0"
    assert chosen(line("Q4_0", 4.0, kl=0.27), line("Q8_0", 2.0), max_kl=0.3) == "Q4_0"
    assert chosen(line("Q8_0", 4.0, kl=float("nan"))) == "original"


def test_reading_is_not_bought_with_slow_words():
    assert chosen(line("F16", 5.0, writing=0.63), line("Q8_0", 2.0, writing=0.92)) == "Q8_0"


def test_of_equally_fast_ones_the_most_faithful_is_taken():
    assert chosen(line("Q6_K", 2.04, kl=0.011), line("Q8_0", 2.0, kl=0.005)) == "Q8_0"
    assert chosen(line("Q6_K", 2.4, kl=0.011), line("Q8_0", 2.0, kl=0.005)) == "Q6_K"


def test_a_better_setting_must_be_clearly_better():
    usual = line("2 threads", 1.0)
    assert choose_setting([usual, line("1 thread", 1.02)]) is usual
    assert choose_setting([usual, line("1 thread", 1.2)]).name == "1 thread"


@pytest.mark.parametrize(
    ("beside", "expected"),
    [({16: 0.05, 32: 0.08, 64: 0.2}, 32), ({16: 0.2, 32: 0.3}, 16), ({16: 0.01, 32: 0.02}, 32)],
)
def test_a_piece_of_a_prompt_may_slow_writers_four_times(beside, expected):
    assert choose_busy_batch(0.02, beside) == expected
