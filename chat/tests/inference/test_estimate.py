"""How long a waiting request is told to wait."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.inference.batch import Batch, Work
from chat.inference.estimate import Rate, Speeds, forecast
from chat.inference.request import Priority, Request, SamplingParams


def speeds(read=100.0, write=10.0, reply_tokens=100.0, share_read=1.0):
    known = Speeds()
    known.read, known.write = Rate(read), Rate(write)
    known.reply_tokens, known.share_read = reply_tokens, share_read
    return known


def ask(length=99, written=0, computed=0, priority=Priority.PERSON, max_tokens=1000):
    request = Request([1] * length, SamplingParams(max_tokens=max_tokens), priority=priority)
    request.tokens += [2] * written
    request.num_computed = computed
    return request


def first_token(running, waiting, slots=1, known=None):
    expected = forecast(running, waiting, slots, known or speeds())
    return [round(expected[request].first_token, 1) for request in waiting]


def test_a_free_slot_costs_the_reading_alone():
    assert first_token([], [ask(99)]) == [1.0]


def test_whoever_waits_for_one_slot_waits_for_the_rest_of_that_reply():
    # 60 tokens are left of a typical reply, at 10 a second; then its own 100 are read.
    assert first_token([ask(written=40)], [ask(99)]) == [7.0]


def test_an_unread_prompt_comes_before_its_reply():
    assert first_token([ask(200, computed=100)], [ask(99)]) == [1 + 10 + 1]


def test_prompts_are_read_one_after_the_other():
    assert first_token([], [ask(99), ask(99), ask(99)], slots=3) == [1.0, 2.0, 3.0]


def test_who_comes_later_waits_for_whom_is_before_him():
    assert first_token([ask(written=90)], [ask(99), ask(99)]) == [2.0, 13.0]


def test_several_slots_are_used():
    assert first_token([ask(written=90), ask(written=50)], [ask(99), ask(99)], slots=2) == [2.0, 6.0]


def test_a_reply_that_is_long_already_is_expected_to_go_on():
    assert first_token([ask(written=200)], [ask(99)]) == [11.0]


def test_a_cap_on_the_reply_shortens_the_wait():
    assert first_token([ask(written=1, max_tokens=11)], [ask(99)]) == [2.0]


def test_background_work_keeps_nobody_waiting():
    assert first_token([ask(priority=Priority.SUMMARY)], [ask(99)]) == [1.0]


@given(st.lists(st.integers(0, 300), max_size=4), st.lists(st.integers(2, 500), min_size=1, max_size=20))
def test_nobody_is_told_less_than_whom_he_waits_for(written, lengths):
    running, waiting = [ask(written=count + 1) for count in written], [ask(length) for length in lengths]
    told = first_token(running, waiting, slots=4)
    assert all(before <= after for before, after in pairwise(told))


def test_speeds_follow_what_is_seen():
    known, request = Speeds(), ask(100)
    writer = ask(written=1)
    for _ in range(1000):
        known.stepped(Batch((Work(request, 0, 0, [1] * 50, samples=False), Work(writer, 1, 0, [1], samples=True))), 0.1)
    assert known.read.per_second == pytest.approx(500, rel=0.05)
    assert known.write.per_second == pytest.approx(10, rel=0.05)


def test_replies_that_ended_tell_how_long_one_is():
    known = Speeds()
    for _ in range(50):
        request = ask(100, written=30)
        request.num_cached = 90
        known.ended(request)
    assert known.reply_tokens == pytest.approx(30, rel=0.05)
    assert known.share_read == pytest.approx(0.1, rel=0.05)
