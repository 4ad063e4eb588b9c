"""Which answers an address can give, for the OpenAPI file."""

from typing import Any

from chat.api.errors import ErrorBody

_ERRORS = (400, 401, 404, 413, 429, 500, 503)


def answers_of(body: Any) -> dict[Any, Any]:
    """A success with this body, and the errors."""
    return {200: body, **dict.fromkeys(_ERRORS, ErrorBody)}
