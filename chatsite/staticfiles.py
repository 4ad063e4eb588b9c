"""Static files under names that carry their hash, the imports between JavaScript modules included."""

import asyncio
import inspect
from collections.abc import Callable, Iterator
from typing import Any

from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.http import HttpRequest
from whitenoise.middleware import WhiteNoiseMiddleware
from whitenoise.storage import CompressedManifestStaticFilesStorage

# Nothing of ours uses htmx's extensions, and comments in them look like imports of files that do not exist. Neither
# does anything use ReDoc, nor anybody the maps of other people's sources, and both are large.
_LEFT_OUT = ("django_htmx/ext/", "ninja/redoc")


class Storage(CompressedManifestStaticFilesStorage):
    """Whitenoise's storage, which by default leaves module imports pointing at names without a hash."""

    support_js_module_import_aggregation = True

    def post_process(self, paths: dict[str, Any], *args: Any, **options: Any) -> Iterator[Any]:
        """Hash and compress what was collected; yields name, new name and whether that worked."""
        used = {name: path for name, path in paths.items() if not (name.startswith(_LEFT_OUT) or name.endswith(".map"))}
        yield from super().post_process(used, *args, **options)  # type: ignore[no-untyped-call]


class Middleware(WhiteNoiseMiddleware):
    """Whitenoise's middleware, which is for threads alone: behind it every request would hold a thread to its end."""

    async_capable = True
    sync_capable = True

    def __init__(self, get_response: Callable[[HttpRequest], Any]) -> None:
        """Asynchronous when what it calls is."""
        super().__init__(get_response)  # type: ignore[no-untyped-call]
        self._is_async = iscoroutinefunction(get_response)
        if self._is_async:
            markcoroutinefunction(self)

    def __call__(self, request: HttpRequest) -> Any:  # type: ignore[override]
        """A file, or what comes behind this."""
        if not self._is_async:
            return super().__call__(request)  # type: ignore[no-untyped-call]
        return self._answer(request)

    async def _answer(self, request: HttpRequest) -> Any:
        if not request.path_info.startswith(self.static_prefix):
            return await self.get_response(request)
        answer = await asyncio.to_thread(super().__call__, request)  # it opens files
        return await answer if inspect.isawaitable(answer) else answer
