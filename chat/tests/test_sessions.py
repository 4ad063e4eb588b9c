"""A session stands for a person only while he is active and his password is the one he logged in with."""

import pytest
from django.conf import settings as django_settings
from django.test import Client

from chat import sessions

COOKIE = django_settings.SESSION_COOKIE_NAME


@pytest.fixture
def key(alice):
    client = Client()
    client.force_login(alice)
    return client.cookies[COOKIE].value


def test_the_key_is_found_among_other_cookies():
    scope = {"headers": [(b"cookie", f"theme=dark; {COOKIE}=abc".encode()), (b"host", b"x")]}
    assert sessions.key_of(scope) == "abc"


@pytest.mark.parametrize("raw", [b"", b"theme=dark", b"\xff\xfe", b'"; =;;'])
def test_cookies_without_one_give_none(raw):
    assert sessions.key_of({"headers": [(b"cookie", raw)]}) is None
    assert sessions.key_of({"headers": []}) is None


def test_a_session_stands_for_its_person(alice, key):
    assert sessions.person_of(key) == alice


@pytest.mark.parametrize("unknown", [None, "", "x" * 32, "x\x00y"])
def test_an_unknown_key_stands_for_nobody(db, unknown):
    assert sessions.person_of(unknown) is None


def test_it_ends_with_the_password(alice, key):
    alice.set_password("another horse battery")
    alice.save()
    assert sessions.person_of(key) is None


def test_it_ends_with_the_account(alice, key):
    alice.is_active = False
    alice.save()
    assert sessions.person_of(key) is None
    alice.delete()
    assert sessions.person_of(key) is None


def test_it_survives_another_secret_key_while_the_old_one_is_a_fallback(alice, key, settings):
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "a new one", [settings.SECRET_KEY]
    assert sessions.person_of(key) == alice


def test_looking_costs_two_queries_and_writes_nothing(key, django_assert_num_queries):
    with django_assert_num_queries(2) as queries:
        sessions.person_of(key)
    assert all(query["sql"].startswith("SELECT") for query in queries)
