"""A key opens the door for its owner's programs until its end, and all that do not are refused alike."""

import hashlib
import re
from datetime import timedelta

import pytest
from django.db import OperationalError, connection
from django.utils import timezone

from accounts.keys import ApiKey, WrongKey, authenticate

HERE = "10.0.0.1"


def refusal(key):
    with pytest.raises(WrongKey) as caught:
        authenticate(key, HERE)
    return str(caught.value)


def test_a_key_stands_for_its_owner(alice, bob):
    _, hers = ApiKey.issue(alice, "Editor")
    _, his = ApiKey.issue(bob, "Editor")
    assert authenticate(hers, HERE) == alice
    assert authenticate(his, HERE) == bob


def test_a_key_can_be_told_from_other_text_and_is_random(alice):
    keys = {ApiKey.issue(alice, "Script")[1] for _ in range(20)}
    assert len(keys) == 20
    assert all(re.fullmatch(r"chat_[A-Za-z0-9_-]{43}", key) for key in keys)


def test_the_database_holds_the_hash_and_too_little_to_guess_the_rest(alice):
    _, key = ApiKey.issue(alice, "Script")
    with connection.cursor() as cursor:
        cursor.execute("SELECT * FROM accounts_apikey")
        stored = [str(value) for value in cursor.fetchone()]
    assert hashlib.sha256(key.encode()).hexdigest() in stored
    assert key not in stored
    assert sum(len(value) for value in stored if value in key and len(value) > 3) == len("chat_") + 4 + 4


def test_all_wrong_keys_are_refused_alike(alice, bob):
    revoked, key_of_revoked = ApiKey.issue(alice, "Revoked")
    revoked.revoke()
    _, expired = ApiKey.issue(alice, "Expired", days=-1)
    _, of_bob = ApiKey.issue(bob, "Bob's")
    bob.is_active = False
    bob.save()
    wrong = [key_of_revoked, expired, of_bob, f"chat_{'A' * 43}"]
    assert len({refusal(key) for key in wrong}) == 1


@pytest.mark.parametrize("text", ["", " ", "\x00", "\ud800", "ü" * 50, "chat_", "x" * 100_000])
def test_whatever_else_is_sent_is_just_wrong(db, text):
    assert refusal(text)


def test_the_beginning_and_the_hash_of_a_key_do_not_open(alice):
    row, key = ApiKey.issue(alice, "Script")
    for near in (key[:-1], key + "A", key.swapcase(), row.key_hash):
        assert refusal(near)


def test_revoking_works_at_once(alice):
    row, key = ApiKey.issue(alice, "Script")
    authenticate(key, HERE)
    assert row.revoke() is True
    assert refusal(key)
    assert row.revoke() is False


def test_a_key_with_an_end_works_until_then(alice, monkeypatch):
    row, key = ApiKey.issue(alice, "Script", days=30)
    now = timezone.now()
    monkeypatch.setattr(timezone, "now", lambda: row.expires_at - timedelta(seconds=1))
    assert authenticate(key, HERE) == alice
    monkeypatch.setattr(timezone, "now", lambda: row.expires_at)
    assert refusal(key)
    assert timedelta(days=30) - (row.expires_at - now) < timedelta(minutes=1)


def test_a_person_who_comes_back_has_his_keys_again(alice):
    _, key = ApiKey.issue(alice, "Script")
    for active in (False, True):
        alice.is_active = active
        alice.save()
    assert authenticate(key, HERE) == alice


def test_use_is_written_once_a_minute(alice, django_assert_num_queries, monkeypatch):
    row, key = ApiKey.issue(alice, "Script")
    with django_assert_num_queries(2):
        authenticate(key, HERE)
    row.refresh_from_db()
    first = row.last_used_at
    with django_assert_num_queries(1):
        authenticate(key, HERE)
    monkeypatch.setattr(timezone, "now", lambda: first + timedelta(seconds=61))
    with django_assert_num_queries(2):
        authenticate(key, HERE)
    row.refresh_from_db()
    assert row.last_used_at == first + timedelta(seconds=61)


def test_a_database_that_cannot_be_written_refuses_nobody(alice, monkeypatch, caplog):
    _, key = ApiKey.issue(alice, "Script")

    def full(_):
        raise OperationalError("database or disk is full")

    monkeypatch.setattr(ApiKey, "note_use", full)
    assert authenticate(key, HERE) == alice
    assert "could not be saved" in caplog.text
    assert key not in caplog.text
