"""Finds the calls of tools in what a model writes, while it writes it."""

import json
import re
import uuid
from collections.abc import Collection, Iterable
from typing import Any, Protocol

from chat.inference.text import longest_beginning

Delta = dict[str, Any]
OPENING, CLOSING = "<tool_call>", "</tool_call>"

_FUNCTION = re.compile(r"<function=([^>\s]+)>(.*?)</function>", re.DOTALL)
_PARAMETER = re.compile(r"<parameter=([^>\s]+)>\n?(.*?)\n?</parameter>", re.DOTALL)
# So much JSON without a name is no call.
_NAME_WITHIN = 200


class Reader(Protocol):
    """Turns the text of a reply into deltas of OpenAI's messages."""

    def push(self, text: str) -> Iterable[Delta]:
        """Take more text."""

    def finish(self) -> Iterable[Delta]:
        """What was held back."""


class PlainReader:
    """For a reply without tools: all is text."""

    def push(self, text: str) -> Iterable[Delta]:
        """The text."""
        return [{"content": text}] if text else []

    def finish(self) -> Iterable[Delta]:
        """Nothing is held back."""
        return []


class ArgumentsReader:
    """For a reply that is nothing but the arguments of one call, which grow as they are written."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._begun = False

    def push(self, text: str) -> Iterable[Delta]:
        """A piece of the arguments."""
        deltas = [] if self._begun else [_call(0, self._name, "")]
        self._begun = True
        return [*deltas, {"tool_calls": [{"index": 0, "function": {"arguments": text}}]}] if text else deltas

    def finish(self) -> Iterable[Delta]:
        """The call, if the model has not even begun with it."""
        return self.push("")


class CallReader:
    """For a reply that may call any of some tools, between markers or as nothing but JSON.

    Calls come whole. What only looks like a call is text.
    """

    def __init__(self, tools: Collection[str], *, most: int | None = None) -> None:
        self._tools, self._most = tools, most
        self._held = ""
        self._inside = False  # between the markers of a call
        self._blank = ""  # white space that is dropped between calls
        self._has_text = False
        self._num_calls = 0

    def push(self, text: str) -> Iterable[Delta]:
        """Take more text; gives what is certain."""
        self._held += text
        deltas: list[Delta] = []
        while True:
            marker = CLOSING if self._inside else OPENING
            if not self._inside and self._may_be_json():
                return deltas
            before, found, after = self._held.partition(marker)
            if not found:
                break
            deltas += self._block(before) if self._inside else self._text(before)
            self._held, self._inside = after, not self._inside
        if self._inside:
            return deltas
        keep = len(self._held) - longest_beginning(self._held, (OPENING,))
        deltas += self._text(self._held[:keep])
        self._held = self._held[keep:]
        return deltas

    def finish(self) -> Iterable[Delta]:
        """What was held back."""
        rest, self._held = self._held, ""
        calls = calls_in(rest, self._tools) if self._inside or self._may_be_json(rest) else None
        deltas = self._calls(calls) if calls else self._text((OPENING if self._inside else "") + rest)
        if self._num_calls == 0 and self._blank:
            deltas.append({"content": self._blank})
        return deltas

    def _may_be_json(self, held: str | None = None) -> bool:
        held = (self._held if held is None else held).lstrip()
        if self._has_text or not held.startswith(("{", "[")):
            return False
        return len(held) < _NAME_WITHIN or '"name"' in held[:_NAME_WITHIN]

    def _block(self, block: str) -> list[Delta]:
        calls = calls_in(block, self._tools)
        return self._calls(calls) if calls else self._text(OPENING + block + CLOSING)

    def _text(self, text: str) -> list[Delta]:
        text = self._blank + text
        shown = text.rstrip()
        self._blank = text[len(shown) :]
        self._has_text = self._has_text or bool(shown)
        return [{"content": shown}] if shown else []

    def _calls(self, calls: list[tuple[str, str]]) -> list[Delta]:
        deltas = []
        for name, arguments in calls:
            if self._most is None or self._num_calls < self._most:
                deltas.append(_call(self._num_calls, name, arguments))
                self._num_calls += 1
        self._blank = ""
        return deltas


def calls_in(text: str, tools: Collection[str]) -> list[tuple[str, str]] | None:
    """Names and arguments (JSON text) of the calls that a text consists of; None when it is anything else."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return _written_as_tags(text, tools)
    calls = [_read(one, tools) for one in (value if isinstance(value, list) else [value])]
    known = [call for call in calls if call]
    return known if known and len(known) == len(calls) else None


def _read(value: Any, tools: Collection[str]) -> tuple[str, str] | None:
    if not isinstance(value, dict) or value.get("name") not in tools:
        return None
    arguments = value.get("arguments", value.get("parameters", {}))
    if not isinstance(arguments, dict):
        return None
    return value["name"], json.dumps(arguments, ensure_ascii=False)


def _written_as_tags(text: str, tools: Collection[str]) -> list[tuple[str, str]] | None:
    """Calls as some templates teach them: <function=NAME><parameter=NAME>VALUE</parameter></function>."""
    calls = []
    for function in _FUNCTION.finditer(text):
        arguments = {found[1]: _value(found[2]) for found in _PARAMETER.finditer(function[2])}
        calls.append((function[1], json.dumps(arguments, ensure_ascii=False)))
    return calls if calls and all(name in tools for name, _ in calls) else None


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _call(index: int, name: str, arguments: str) -> Delta:
    function = {"name": name, "arguments": arguments}
    call = {"index": index, "id": f"call_{uuid.uuid4().hex[:24]}", "type": "function", "function": function}
    return {"tool_calls": [call]}
