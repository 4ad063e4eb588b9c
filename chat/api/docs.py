"""The description of the API: a file for programs, and a page to try it out that needs no other server."""

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from chat.api.site import api


@require_safe
def openapi(request: HttpRequest) -> HttpResponse:  # noqa: ARG001
    """The OpenAPI file."""
    return JsonResponse(api.get_openapi_schema(path_prefix=""))


@require_safe
def page(request: HttpRequest) -> HttpResponse:
    """Swagger's page, from django-ninja's own files."""
    return render(request, "chat/api_docs.html", {"title": api.title})
