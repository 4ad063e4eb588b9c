"""Five wrong keys from one address in a quarter of an hour, then what comes from there unknown has to wait."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from accounts import keys
from accounts.failures import Failures
from accounts.keys import ApiKey, TooManyFailures, WrongKey, authenticate

HERE, THERE = "10.0.0.1", "10.0.0.2"


@pytest.fixture
def clock(monkeypatch):
    """Seconds that pass when the test says so."""
    seconds = [1000.0]
    monkeypatch.setattr(keys, "failures", Failures(clock=lambda: seconds[0], most=100))
    return seconds


def attempt(key, address=HERE):
    """None, or the seconds to wait."""
    try:
        authenticate(key, address)
    except WrongKey:
        return None
    except TooManyFailures as refused:
        return refused.retry_after
    return "welcome"


def fail(times=5, address=HERE):
    return [attempt(f"chat_wrong{n}", address) for n in range(times)]


def test_the_sixth_wrong_key_waits_and_so_does_a_right_one_that_is_new_there(alice, clock):
    _, key = ApiKey.issue(alice, "Script")
    assert fail(7) == [None] * 5 + [900] * 2
    assert attempt(key) == 900


def test_the_wait_ends_a_quarter_of_an_hour_after_the_oldest_failure(alice, clock):
    _, key = ApiKey.issue(alice, "Script")
    fail(1)
    clock[0] += 600
    fail(4)
    assert attempt("chat_wrong") == 300
    clock[0] += 299.5
    assert attempt(key) == 1
    clock[0] += 0.5
    assert attempt(key) == "welcome"
    assert fail(2) == [None, 600]


def test_trying_in_vain_does_not_lengthen_the_wait(db, clock):
    fail()
    clock[0] += 899
    assert attempt("chat_wrong") == 1
    clock[0] += 1
    assert attempt("chat_wrong") is None


def test_other_addresses_do_not_wait(alice, clock):
    _, key = ApiKey.issue(alice, "Script")
    fail()
    assert attempt(key, THERE) == "welcome"
    assert fail(1, None) == [None]


def test_a_key_that_came_in_from_there_before_keeps_coming_in(alice, clock, django_assert_num_queries):
    row, key = ApiKey.issue(alice, "Script")
    attempt(key)
    fail()
    assert attempt(key) == "welcome"
    assert attempt("chat_wrong") == 900
    row.revoke()
    with django_assert_num_queries(1):
        assert [attempt(key), attempt(key)] == [900, 900]


def test_success_forgets_no_failures_because_an_address_has_many_people(alice, clock):
    _, key = ApiKey.issue(alice, "Script")
    fail(4)
    attempt(key)
    assert fail(2) == [None, 900]


def test_no_key_is_no_guess(db, clock):
    assert [attempt("") for _ in range(10)] == [None] * 10
    assert attempt("chat_wrong") is None


def test_a_wrong_key_costs_a_read_and_a_locked_out_one_nothing(db, clock, django_assert_num_queries):
    with django_assert_num_queries(5) as queries:
        fail(100)
    assert all(query["sql"].startswith("SELECT") for query in queries.captured_queries)


def test_many_addresses_and_guests_take_bounded_memory(clock):
    failures = keys.failures
    for n in range(1000):
        failures.add(f"10.0.{n}", "guest")
        failures.welcome(f"10.0.{n}", "guest")
    assert len(failures._times) == len(failures._guests) == 100
    assert failures._times["10.0.999"]


def test_tries_at_once_are_counted_each():
    failures = Failures()
    with ThreadPoolExecutor(8) as threads:
        waits = list(threads.map(lambda n: failures.add(HERE, f"guest {n}"), range(200)))
    assert waits.count(0) == 5
    assert min(wait for wait in waits if wait) > 890
