"""The address that Prometheus reads."""

from secrets import compare_digest

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET


@require_GET
@never_cache
def metrics(request: HttpRequest) -> HttpResponse:
    """All figures for whoever has METRICS_TOKEN, else 401; 404 while there is no such token."""
    if not settings.METRICS_TOKEN:
        raise Http404
    if not _is_known(request.headers.get("Authorization", "")):
        return HttpResponse("A token is needed.\n", "text/plain", status=401, headers={"WWW-Authenticate": "Bearer"})
    from prometheus_client import CONTENT_TYPE_LATEST

    from chat.metrics.figures import figures  # here, so that addresses can be resolved without its libraries

    return HttpResponse(figures.exposition(), CONTENT_TYPE_LATEST)


def _is_known(authorization: str) -> bool:
    scheme, _, token = authorization.partition(" ")
    return scheme.lower() == "bearer" and compare_digest(token.strip().encode(), settings.METRICS_TOKEN.encode())
