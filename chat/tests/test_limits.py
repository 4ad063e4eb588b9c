"""Frames are counted within ten seconds, sockets by person."""

import pytest

from chat import limits
from chat.limits import FrameRate, Seats


@pytest.fixture
def clock(monkeypatch):
    class Clock:
        now = 100.0

    monkeypatch.setattr(limits.time, "monotonic", lambda: Clock.now)
    return Clock


def test_a_frame_is_too_many_only_within_ten_seconds(clock):
    rate = FrameRate(most=2)
    for expected in (False, False, True):
        rate.count()
        assert rate.is_exceeded is expected
    clock.now += 10.1
    rate.count()
    assert not rate.is_exceeded


def test_far_too_many_is_five_times_as_many(clock):
    rate = FrameRate(most=2)
    seen = []
    for _ in range(10):
        rate.count()
        seen.append(rate.is_far_exceeded)
    assert seen == [False] * 9 + [True]


def test_a_seat_is_given_back_to_its_person():
    seats = Seats()
    assert seats.take(1, most=1)
    assert not seats.take(1, most=1)
    assert seats.take(2, most=1)
    seats.give_back(1)
    assert seats.take(1, most=1)
