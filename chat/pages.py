"""What the pages' views share: a request of a person, a conversation of his, dialogs, and the way back."""

import uuid
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.http import url_has_allowed_host_and_scheme

from accounts.models import User
from chat.models import Conversation


class PersonRequest(HttpRequest):
    """A request of somebody who is logged in."""

    user: User
    htmx: Any


def visible(request: PersonRequest, pk: uuid.UUID) -> Conversation:
    """This person's conversation; a missing one and another person's are both not found."""
    return get_object_or_404(Conversation.objects.visible_to(request.user), pk=pk)


def dialog(request: PersonRequest, name: str, context: dict[str, Any], status: int = 200) -> HttpResponse:
    """`chat/_name.html` alone for the page's dialog, or `chat/name.html`, a page of its own."""
    context["next"] = back(request, "")
    template = f"chat/_{name}.html" if request.htmx else f"chat/{name}.html"
    return render(request, template, context, status=status)


def back(request: PersonRequest, fallback: str) -> str:
    """The address of this site that the person came from, else the fallback."""
    address = request.POST.get("next") or request.htmx.current_url_abs_path or fallback
    return address if url_has_allowed_host_and_scheme(address, allowed_hosts=None) else fallback
