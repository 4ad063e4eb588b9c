"""Readers of the environment give typed values and say at once what is wrong."""

import stat
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from chatsite import env


@pytest.mark.parametrize(
    ("value", "expected"), [("1", True), ("Yes", True), ("off", False), (" 0 ", False), ("", True)]
)
def test_a_flag_is_yes_or_no(monkeypatch, value, expected):
    monkeypatch.setenv("X", value)
    assert env.flag("X", default=True) is expected


def test_a_flag_that_is_neither_names_itself(monkeypatch):
    monkeypatch.setenv("X", "maybe")
    with pytest.raises(ImproperlyConfigured, match="X='maybe'"):
        env.flag("X", default=True)


@pytest.mark.parametrize(("value", "expected"), [("1", 1), ("9", 9), (" 5 ", 5), ("", 3)])
def test_a_number_lies_in_its_range(monkeypatch, value, expected):
    monkeypatch.setenv("X", value)
    assert env.integer("X", 3, least=1, most=9) == expected


@pytest.mark.parametrize("value", ["0", "10", "many", "1.5"])
def test_a_number_out_of_range_names_itself(monkeypatch, value):
    monkeypatch.setenv("X", value)
    with pytest.raises(ImproperlyConfigured, match="X="):
        env.integer("X", 3, least=1, most=9)


def test_a_list_drops_spaces_and_empty_items(monkeypatch):
    monkeypatch.setenv("X", " a, ,b,")
    assert env.items("X") == ["a", "b"]
    monkeypatch.setenv("X", " , ")
    assert env.items("X", ("c",)) == ["c"]


def test_a_relative_path_is_taken_from_here_and_a_tilde_from_home(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", "/home/alice")
    monkeypatch.setenv("X", "a b/c")
    assert env.path("X", Path("/d")) == tmp_path / "a b" / "c"
    monkeypatch.setenv("X", "~/c")
    assert env.path("X", Path("/d")) == Path("/home/alice/c")
    monkeypatch.setenv("X", "")
    assert env.path("X", Path("/d")) == Path("/d")


def test_a_key_is_made_once_and_kept_for_this_user_alone(monkeypatch, tmp_path):
    monkeypatch.delenv("X", raising=False)
    file = tmp_path / "new" / "key"
    key = env.secret("X", file)
    assert len(key) >= 50
    assert env.secret("X", file) == key
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    monkeypatch.setenv("X", "given")
    assert env.secret("X", file) == "given"


def test_a_key_that_cannot_be_kept_names_the_file(monkeypatch, tmp_path):
    monkeypatch.delenv("X", raising=False)
    (tmp_path / "file").touch()
    with pytest.raises(ImproperlyConfigured, match=r"file/key: .*DATA_DIR"):
        env.secret("X", tmp_path / "file" / "key")


def test_an_empty_key_file_is_refused(monkeypatch, tmp_path):
    monkeypatch.delenv("X", raising=False)
    (tmp_path / "key").touch()
    with pytest.raises(ImproperlyConfigured, match="is empty"):
        env.secret("X", tmp_path / "key")


@pytest.mark.parametrize(("value", "expected"), [("json", "json"), (" JSON ", "json"), ("", "text")])
def test_a_choice_is_one_of_its_words(monkeypatch, value, expected):
    monkeypatch.setenv("X", value)
    assert env.choice("X", "text", among=("text", "json")) == expected


def test_a_choice_that_does_not_exist_names_itself(monkeypatch):
    monkeypatch.setenv("X", "xml")
    with pytest.raises(ImproperlyConfigured, match="X='xml' does not exist: write text or json"):
        env.choice("X", "text", among=("text", "json"))
