"""The addresses of the API."""

from django.urls import URLPattern, include, path, re_path

from chat.api import docs
from chat.api.errors import explaining_405, not_found
from chat.api.site import api

# django-ninja adds an address for the root, which here is a page of the site.
_routes = [
    path(str(pattern.pattern), explaining_405(pattern.callback), name=pattern.name)
    for pattern in api.urls[0]
    if isinstance(pattern, URLPattern) and pattern.name != "api-root"
]

urlpatterns = [
    path("docs", docs.page, name="api_docs"),
    path("openapi.json", docs.openapi, name="openapi"),
    path("", include((_routes, "ninja"), namespace="api")),
    re_path(r"^v1(?:/.*)?$", not_found, name="api_not_found"),
]
