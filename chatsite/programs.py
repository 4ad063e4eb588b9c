"""The short way in for programs: their keys are in a header, so sessions, forms and tokens mean nothing there."""

from collections.abc import Awaitable, Callable
from typing import Any

from django.core.handlers.asgi import ASGIHandler
from django.core.handlers.exception import convert_exception_to_response
from django.http import HttpRequest, HttpResponseBase

Application = Callable[[Any, Any, Any], Awaitable[None]]

# Addresses of the API and of the checks; /docs is a page.
_PLACES = ("/v1", "/chat", "/health", "/healthz", "/readyz", "/metrics")


def beside(pages: Application) -> Application:
    """An application that gives programs the short way, and everybody else these pages."""
    programs = ProgramsHandler()

    async def http(scope: Any, receive: Any, send: Any) -> None:
        await (programs if is_for_programs(scope["path"]) else pages)(scope, receive, send)

    return http


def is_for_programs(path: str) -> bool:
    """Whether an address is among those that are made for programs."""
    return path.startswith(tuple(place + "/" for place in _PLACES)) or path in _PLACES


class ProgramsHandler(ASGIHandler):
    """Django without the middleware of pages, which took longer than everything else that a short request needs.

    Each of those classes hands the request to a thread and back, twice. What matters without them is done here: names
    of other sites are refused, and no browser guesses the type of an answer.
    """

    def load_middleware(self, is_async: bool = False) -> None:
        """In place of settings.MIDDLEWARE."""
        del is_async
        self._view_middleware: list[Any] = []
        self._template_response_middleware: list[Any] = []
        self._exception_middleware: list[Any] = []
        get_response: Any = convert_exception_to_response(self._get_response_async)  # type: ignore[attr-defined]

        async def answer(request: HttpRequest) -> HttpResponseBase:
            request.get_host()  # raises DisallowedHost, which becomes a 400
            response: HttpResponseBase = await get_response(request)
            response.headers["X-Content-Type-Options"] = "nosniff"
            return response

        self._middleware_chain = convert_exception_to_response(answer)
