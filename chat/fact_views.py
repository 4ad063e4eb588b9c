"""The page where a person sees, corrects and deletes what is remembered about him across conversations."""

from typing import TYPE_CHECKING, Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from accounts.models import User
from chat.forms import FactForm
from chat.models import Fact

if TYPE_CHECKING:
    from django.db.models import QuerySet


class PersonRequest(HttpRequest):
    """A request of somebody who is logged in."""

    user: User


@require_http_methods(["GET", "POST"])
@never_cache
@login_required
def facts(request: PersonRequest) -> HttpResponse:
    """The list, with a form for one more."""
    form = FactForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        Fact.objects.create(owner=request.user, corrected=True, **form.cleaned_data)
        messages.success(request, "It is remembered. New conversations know it.")
        return redirect("facts")
    return render(request, "chat/facts.html", {"form": form, "facts": _own(request).select_related("source")})


@require_http_methods(["GET", "POST"])
@never_cache
@login_required
def correct_fact(request: PersonRequest, fact: int) -> HttpResponse:
    """Correct one."""
    row = get_object_or_404(_own(request), pk=fact)
    form = FactForm(request.POST or None, initial={"text": row.text, "kind": row.kind})
    if request.method == "POST" and form.is_valid():
        _services().correct_fact(row, **form.cleaned_data)
        messages.success(request, "It is corrected, in conversations that know it as well.")
        return redirect("facts")
    return render(request, "chat/fact.html", {"form": form, "fact": row})


@require_POST
@login_required
def delete_fact(request: PersonRequest, fact: int) -> HttpResponse:
    """Delete one; no prompt shows it from now on."""
    _services().delete_facts(request.user.pk, [get_object_or_404(_own(request), pk=fact).pk])
    messages.success(request, "It is forgotten. The message in which you said it is still in its conversation.")
    return redirect("facts")


@require_http_methods(["GET", "POST"])
@never_cache
@login_required
def delete_all_facts(request: PersonRequest) -> HttpResponse:
    """Delete all of them, after a question."""
    own = _own(request)
    if request.method == "GET":
        return render(request, "chat/delete_facts.html", {"facts": own})
    _services().delete_facts(request.user.pk, list(own.values_list("pk", flat=True)))
    messages.success(request, "Everything that was remembered about you is forgotten.")
    return redirect("facts")


@require_POST
@login_required
def switch_facts(request: PersonRequest) -> HttpResponse:
    """On: what the person says of himself is kept from now on. Off: nothing new is, and no prompt shows any."""
    on = request.POST.get("on") == "1"
    _services().switch_facts(request.user.pk, on=on)
    messages.success(request, "Facts about you are remembered." if on else "Facts about you are not used any more.")
    return redirect("facts")


def _own(request: PersonRequest) -> "QuerySet[Fact]":
    return Fact.objects.filter(owner=request.user)


def _services() -> Any:
    from chat.services import knowing  # here, so that addresses can be resolved without the engine's libraries

    return knowing
