"""Which JSON Schemas may become a grammar: a bound on everything that would cost the engine too much."""

import json
from collections.abc import Mapping
from typing import Any

MAX_BYTES = 16 * 1024
MAX_LEVELS = 16
# Counts in a schema become that many rules of the grammar.
MAX_COUNT = 256
_COUNTS = frozenset({"minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties"})


class UnusableSchema(ValueError):
    """The schema is refused; the text says what to change."""


def checked_schema(schema: Any) -> str:
    """The schema as JSON text. Raises UnusableSchema; never recurses deeper than MAX_LEVELS."""
    if not isinstance(schema, Mapping):
        raise UnusableSchema("A JSON Schema must be an object.")
    _check(schema, MAX_LEVELS)
    try:
        text = json.dumps(schema, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise UnusableSchema(f"The schema is not plain JSON: {error}.") from error
    if len(text) > MAX_BYTES:
        raise UnusableSchema(f"The schema has {len(text):,} bytes; {MAX_BYTES:,} are allowed.")
    return text


def _check(node: Any, levels: int) -> None:
    if levels < 0:
        raise UnusableSchema(f"The schema is nested deeper than {MAX_LEVELS} levels.")
    if isinstance(node, Mapping):
        for name, value in node.items():
            _check_entry(str(name), value)
            _check(value, levels - 1)
    elif isinstance(node, list | tuple):
        for value in node:
            _check(value, levels - 1)


def _check_entry(name: str, value: Any) -> None:
    if name in _COUNTS and isinstance(value, int | float) and not 0 <= value <= MAX_COUNT:
        raise UnusableSchema(f"{name} must be from 0 to {MAX_COUNT}.")
    if name == "pattern" and isinstance(value, str):
        raise UnusableSchema("pattern is not supported; use enum, or check the text yourself.")
    if name == "$ref" and not (isinstance(value, str) and value.startswith("#")):
        raise UnusableSchema("$ref may only point into the schema itself (#/...).")
