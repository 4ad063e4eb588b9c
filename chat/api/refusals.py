"""What the services refuse, as the API answers it."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings

from chat.api.errors import RATE_LIMIT, SERVER, ApiError
from chat.replies import running
from chat.services import RefusedPost

_STATUS = {
    "empty_message": (400, "text"),
    "message_too_long": (400, "text"),
    "unknown_parent": (404, "parent"),
    "unknown_message": (404, None),
    "unknown_reply": (404, None),
    "unknown_summary": (404, None),
    "conversation_gone": (404, None),
    "empty_summary": (400, "text"),
    "summary_too_long": (400, "text"),
    "pins_too_long": (400, "pinned"),
    "cannot_pin": (409, "pinned"),
    "stale": (409, None),
    "reply_running": (409, None),
    "forgotten": (409, None),
}


@contextmanager
def refusals(person: int, param: str | None = None) -> Iterator[None]:
    """Turn a RefusedPost inside into the ApiError for this person.

    `param` is the field to blame where the reason alone does not tell.
    """
    try:
        yield
    except RefusedPost as refused:
        raise _answer(refused, person, param) from refused


def _answer(refused: RefusedPost, person: int, param: str | None) -> ApiError:
    match refused.code:
        case "queue_full" if running.waiting(person) >= settings.LLM_QUEUE_LIMIT_PERSON:
            return ApiError(
                429, str(refused), kind=RATE_LIMIT, code="rate_limit_exceeded", retry_after=running.soonest(person)
            )
        case "queue_full":
            return ApiError(503, str(refused), kind=SERVER, code="overloaded", retry_after=running.soonest())
        case "model_unavailable":  # Its reason may name files of this machine; /readyz and the log have it.
            return ApiError(503, "No model is loaded yet.", kind=SERVER, code="model_not_loaded", retry_after=5)
        case "storage_unavailable":
            return ApiError(503, str(refused), kind=SERVER, code=refused.code, retry_after=1)
        case _:
            status, blamed = _STATUS[refused.code]
            return ApiError(status, str(refused), param=blamed or param, code=refused.code)
