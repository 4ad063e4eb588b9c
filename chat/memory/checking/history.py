"""The prompt for a history that somebody brings along, so that he can hold it against a benchmark of his own."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from pathlib import Path
from typing import Any

from langchain_core.messages import BaseMessage

ROLES = ("user", "assistant")
NAMES = {"human": "user", "ai": "assistant", "system": "system"}


class UnusableHistory(Exception):
    """A file that is no history; the text says what is wrong with it and where."""


@dataclass(frozen=True)
class Turn:
    """Something that was said, and when, if that is known."""

    role: str
    text: str
    at: datetime | None


@dataclass(frozen=True)
class History:
    """Turns in their order, and the question that comes after them."""

    turns: list[Turn]
    question: str


def read(path: Path) -> History:
    """`{"turns": [{"role", "text", "date"}], "question"}`; the date is optional, ISO 8601. Raises UnusableHistory."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UnusableHistory(f"{path} cannot be read: {error.strerror or error}.") from error
    except UnicodeDecodeError as error:
        raise UnusableHistory(f"{path} is not UTF-8.") from error
    except (json.JSONDecodeError, RecursionError) as error:
        raise UnusableHistory(f"{path} is no JSON: {error}.") from error
    return parse(content)


def parse(content: Any) -> History:
    """The same of what was read already."""
    if not isinstance(content, dict) or not isinstance(content.get("turns"), list):
        raise UnusableHistory('It must be an object with "turns", a list, and "question".')
    question = content.get("question")
    if not isinstance(question, str) or not question.strip():
        raise UnusableHistory('"question" must be a text that is not empty.')
    return History([_turn(number, turn) for number, turn in enumerate(content["turns"])], question)


def parts(messages: Sequence[BaseMessage], kinds: Sequence[tuple[str, int, int]]) -> list[dict[str, Any]]:
    """A prompt's parts with their texts; `kinds` gives kind, tokens and number of messages of each, in order."""
    found, at = [], 0
    for kind, num_tokens, size in kinds:
        texts = [
            f"{NAMES[message.type]}: {message.text}" if size > 1 else message.text
            for message in messages[at : at + size]
        ]
        found.append({"kind": kind, "tokens": num_tokens, "text": "\n".join(texts)})
        at += size
    assert at == len(messages), "each message is in one part"
    return found


def _turn(number: int, turn: Any) -> Turn:
    where = f"turns[{number}]"
    if not isinstance(turn, dict):
        raise UnusableHistory(f'{where} must be an object with "role" and "text".')
    if turn.get("role") not in ROLES:
        raise UnusableHistory(f'{where}: "role" must be "user" or "assistant", not {turn.get("role")!r}.')
    text = turn.get("text")
    if not isinstance(text, str) or not text.strip():
        raise UnusableHistory(f'{where}: "text" must be a text that is not empty.')
    return Turn(turn["role"], text, _date(where, turn.get("date")))


def _date(where: str, value: Any) -> datetime | None:
    if value in (None, ""):
        return None
    try:
        if len(str(value)) == len("2026-01-31"):
            return datetime.combine(date.fromisoformat(value), time(12), UTC)
        at = datetime.fromisoformat(value)
    except (TypeError, ValueError) as error:
        raise UnusableHistory(f'{where}: "date" must be like 2026-01-31 or 2026-01-31T18:30, not {value!r}.') from error
    return at if at.tzinfo else at.replace(tzinfo=UTC)
