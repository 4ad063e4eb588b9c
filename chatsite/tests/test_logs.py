"""With LOG_FORMAT=json every line of the log is one JSON object."""

import json
import logging
import sys

import pytest

from chatsite.logs import Fields, JsonFormatter


def formatted(message, *args, error=None):
    exc_info = (type(error), error, error.__traceback__) if error else None
    record = logging.LogRecord("chat.somewhere", logging.WARNING, __file__, 1, message, args, exc_info)
    line = JsonFormatter().format(record)
    assert "\n" not in line
    return json.loads(line)


def test_a_message_is_a_line_with_its_time_level_and_logger():
    line = formatted("%d replies", 3)
    assert line.pop("time").endswith("+00:00")
    assert line == {"level": "WARNING", "logger": "chat.somewhere", "message": "3 replies"}


def test_named_values_are_fields_of_the_line():
    assert formatted(Fields(event="generation", reply=7)).items() >= {"event": "generation", "reply": 7}.items()


def test_what_looks_like_a_second_line_is_none():
    assert formatted("one\n{}\u2028two")["message"] == "one\n{}\u2028two"


def test_a_traceback_is_in_the_line():
    try:
        raise ValueError("broken")
    except ValueError:
        assert "ValueError: broken" in formatted("It failed", error=sys.exc_info()[1])["traceback"]


@pytest.mark.parametrize("value", [{1}, b"x", object])
def test_what_json_does_not_know_is_written_as_text(value):
    assert formatted(Fields(value=value))["value"] == str(value)
