"""The data is in the file of DATA_DIR or where DATABASE_URL says; a wrong address is explained without its password."""

import builtins
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from chatsite.databases import choose


def test_without_an_address_it_is_the_file():
    found = choose("", Path("/data"))
    assert (found["ENGINE"], found["NAME"]) == ("django.db.backends.sqlite3", Path("/data/chat.sqlite3"))


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("postgresql://chat:s@db.example.org:5433/name", ("chat", "s", "db.example.org", "5433", "name")),
        ("postgres://chat@db/my%20chat", ("chat", "", "db", "", "my chat")),
        ("postgresql://c:%40%2F%3A@[::1]:5432/name", ("c", "@/:", "::1", "5432", "name")),
        ("postgresql:///name", ("", "", "", "", "name")),
        ("postgresql://c@%2FRun%2Fpg:6/name", ("c", "", "/Run/pg", "6", "name")),
        ("postgresql:///name?host=/Run/pg", ("", "", "/Run/pg", "", "name")),
    ],
)
def test_an_address_is_taken_apart(url, place):
    found = choose(url, Path("/data"))
    assert found["ENGINE"] == "django.db.backends.postgresql"
    assert tuple(found[part] for part in ("USER", "PASSWORD", "HOST", "PORT", "NAME")) == place


def test_what_follows_the_question_mark_goes_to_libpq_and_wins_over_our_own_choice():
    options = choose("postgresql://h/name?sslmode=require&connect_timeout=2", Path("/data"))["OPTIONS"]
    assert (options["sslmode"], options["connect_timeout"]) == ("require", "2")


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("mysql://u:sekret@h/n", "must look like"),
        ("u:sekret@h/n", "must look like"),
        ("postgresql://u:sekret@h", "names no database"),
        ("postgresql://u:sekret@h/", "names no database"),
        ("postgresql://u:sek#ret@h/n", "%23"),
        ("postgresql://u:sek/ret@h/n", "%2F"),
        ("postgresql://u:sekret@h:port/n", "a port that cannot be"),
        ("postgresql://u:sekret@[::1/n", "a host or a port"),
        ("postgresql://u:sekret@h/n?colour=red", "colour"),
    ],
)
def test_a_wrong_address_says_what_is_wrong_and_keeps_the_password(url, told):
    with pytest.raises(ImproperlyConfigured) as refused:
        choose(url, Path("/data"))
    assert told in str(refused.value)
    assert "DATABASE_URL" in str(refused.value)
    assert "ret@" not in str(refused.value)
    assert "sek" not in str(refused.value)


def test_without_the_driver_it_says_how_to_get_it(monkeypatch):
    real = builtins.__import__

    def without(name, *rest):
        if name.startswith("psycopg"):
            raise ImportError("No module named 'psycopg'")
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImproperlyConfigured, match=r"bin/setup requirements-postgresql\.txt"):
        choose("postgresql://h/name", Path("/data"))
