"""What a request is refused with: OpenAI's error body and status codes, and never a path or a traceback."""

import logging
from collections.abc import Callable
from functools import wraps
from typing import Any, NoReturn

from asgiref.sync import iscoroutinefunction
from django.conf import settings
from django.core.exceptions import PermissionDenied, RequestDataTooBig
from django.db import DatabaseError
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from ninja import NinjaAPI, Schema
from ninja.errors import AuthenticationError, HttpError, ValidationError

from accounts.keys import TooManyFailures, WrongKey
from chat.inference import EngineFailed, PromptTooLong, QueueFull, UnusableGrammar, UnusableSchema

logger = logging.getLogger(__name__)

INVALID = "invalid_request_error"
RATE_LIMIT = "rate_limit_error"
SERVER = "server_error"


class ErrorDetail(Schema):
    """What went wrong, for people and for programs; `param` names the field that is to blame."""

    message: str
    type: str
    param: str | None = None
    code: str | None = None


class ErrorBody(Schema):
    """The body of every answer that is not a success."""

    error: ErrorDetail


class ApiError(Exception):
    """An answer that is not a success. `retry_after` is in whole seconds."""

    def __init__(
        self,
        status: int,
        message: str,
        *,
        kind: str = INVALID,
        param: str | None = None,
        code: str | None = None,
        retry_after: int | None = None,
    ) -> None:
        super().__init__(message)
        self.status, self.message, self.kind = status, message, kind
        self.param, self.code, self.retry_after = param, code, retry_after

    @property
    def body(self) -> dict[str, Any]:
        """OpenAI's error body, which clients turn into their own exceptions."""
        return {"error": {"message": self.message, "type": self.kind, "param": self.param, "code": self.code}}

    def response(self) -> HttpResponse:
        """The answer itself."""
        headers = {"Retry-After": str(self.retry_after)} if self.retry_after else {}
        if self.status == 401:
            headers["WWW-Authenticate"] = "Bearer"
        return JsonResponse(self.body, status=self.status, headers=headers)


def invalid(message: str, param: str | None = None, code: str | None = None) -> ApiError:
    """A 400 with its reason."""
    return ApiError(400, message, param=param, code=code)


def described(error: BaseException) -> ApiError:
    """The answer to any exception; what nobody expected is logged, and told without a word about it."""
    if isinstance(error, ApiError):
        return error
    for known, describe in _KNOWN.items():
        if isinstance(error, known):
            return describe(error)
    logger.error("A request of the API met an error", exc_info=error)
    return ApiError(500, "The server met an internal error; its log has the details.", kind=SERVER)


def handle_errors(api: NinjaAPI) -> None:
    """Let the API answer every exception of its views with one of these bodies."""

    def answer(_request: HttpRequest, error: Exception | type[Exception]) -> HttpResponse:
        return described(error if isinstance(error, Exception) else error()).response()

    for kind in (Exception, Http404, HttpError, ValidationError, AuthenticationError):
        api.add_exception_handler(kind, answer)


async def not_found(_request: HttpRequest, **_: Any) -> HttpResponse:
    """The answer at addresses that do not exist; programs would not understand a page."""
    return _missing(Http404()).response()


def explaining_405(view: Callable[..., Any]) -> Callable[..., Any]:
    """The view, whose refusal of a method has the body that all other refusals have."""

    def explained(answer: HttpResponse) -> HttpResponse:
        if answer.status_code != 405:
            return answer
        allowed = answer["Allow"]
        refusal = ApiError(405, f"This address takes {allowed} alone.", code="method_not_allowed").response()
        refusal["Allow"] = allowed
        return refusal

    @wraps(view)
    async def awaited(*args: Any, **kwargs: Any) -> HttpResponse:
        return explained(await view(*args, **kwargs))

    @wraps(view)
    def called(*args: Any, **kwargs: Any) -> HttpResponse:
        return explained(view(*args, **kwargs))

    return awaited if iscoroutinefunction(view) else called


def refuse(status: int, message: str, **details: Any) -> NoReturn:
    """Raise an ApiError."""
    raise ApiError(status, message, **details)


def _wrong_key(error: Any) -> ApiError:
    return ApiError(401, str(error), code="invalid_api_key")


def _no_key(_error: Any) -> ApiError:
    message = "An API key is needed, in a header: Authorization: Bearer KEY."
    return ApiError(401, message, code="invalid_api_key")


def _too_many_failures(error: Any) -> ApiError:
    return ApiError(429, str(error), kind=RATE_LIMIT, code="rate_limit_exceeded", retry_after=error.retry_after)


def _queue_full(error: Any) -> ApiError:
    if error.personal:
        return ApiError(429, str(error), kind=RATE_LIMIT, code="rate_limit_exceeded", retry_after=error.retry_after)
    return ApiError(503, str(error), kind=SERVER, code="overloaded", retry_after=error.retry_after)


def _prompt_too_long(error: Any) -> ApiError:
    return invalid(
        f"The prompt has {error.needed} tokens; the model's context has room for {error.available} and a reply.",
        "messages",
        "context_length_exceeded",
    )


def _validation(error: Any) -> ApiError:
    """The first thing that is wrong, by the field's name as the client wrote it."""
    first = error.errors[0]
    where = [str(part) for part in first["loc"] if part not in {"body", "payload", "query", "path"}][:8]
    param = ".".join(where)[:200]
    reason = str(first["msg"]).removeprefix("Value error, ")[:500]
    return invalid(f"{param}: {reason}" if param else reason, param or None)


def _http(error: Any) -> ApiError:
    cause = error.__cause__ or error.__context__
    if isinstance(cause, ApiError):  # what the parser of bodies found
        return cause
    return ApiError(error.status_code, str(error))


def _missing(_error: Any) -> ApiError:
    return ApiError(404, "There is nothing at this address.", code="not_found")


def _forbidden(_error: Any) -> ApiError:
    return ApiError(403, "This key may not do that.", code="forbidden")


def _too_large(_error: Any) -> ApiError:
    return ApiError(413, f"A request may have at most {settings.BODY_MAX_BYTES} bytes.", code="request_too_large")


def _database(error: Any) -> ApiError:
    logger.warning("The database could not be used for a request of the API: %s", error)
    return ApiError(503, "The server's storage is busy or full. Try again in a moment.", kind=SERVER, retry_after=1)


def _engine(error: Any) -> ApiError:
    return ApiError(500, str(error), kind=SERVER, code="engine_failed")


# The first that fits counts.
_KNOWN: dict[type[BaseException], Callable[[Any], ApiError]] = {
    WrongKey: _wrong_key,
    TooManyFailures: _too_many_failures,
    QueueFull: _queue_full,
    PromptTooLong: _prompt_too_long,
    UnusableSchema: lambda error: invalid(str(error), "response_format", "invalid_schema"),
    UnusableGrammar: lambda error: invalid(str(error), "response_format", "invalid_schema"),
    EngineFailed: _engine,
    AuthenticationError: _no_key,
    ValidationError: _validation,
    RequestDataTooBig: _too_large,
    HttpError: _http,
    Http404: _missing,
    PermissionDenied: _forbidden,
    DatabaseError: _database,
}
