"""Bodies of requests: strict JSON of bounded depth."""

from typing import Any

import orjson
from django.http import HttpRequest
from ninja.parser import Parser

from chat.api.errors import invalid

# A conversation with a schema of chat.inference.schema.MAX_LEVELS in it needs some twenty.
MAX_LEVELS = 40


class StrictParser(Parser):
    """Refuses what is no JSON (NaN, lone surrogates, bytes that are not UTF-8) and what is nested too deeply."""

    def parse_body(self, request: HttpRequest) -> Any:
        """The body as Python's own types. Raises ApiError."""
        try:
            body = orjson.loads(request.body)
        except orjson.JSONDecodeError as error:
            raise invalid(f"The body is not valid JSON: {error}.") from None
        if _is_deeper(body, MAX_LEVELS):
            raise invalid(f"The body is nested deeper than {MAX_LEVELS} levels.")
        return body


def _is_deeper(body: Any, levels: int) -> bool:
    nodes = [body]
    for _ in range(levels):
        nodes = [
            child
            for node in nodes
            if isinstance(node, dict | list)
            for child in (node.values() if isinstance(node, dict) else node)
        ]
        if not nodes:
            return False
    return True
