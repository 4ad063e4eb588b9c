"""The pages: the list of conversations, one conversation, and whether the site is well."""

import uuid
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST, require_safe

from chat import sidebar, transcript, typed
from chat.database import is_reachable
from chat.forms import RenameForm
from chat.models import Conversation, Message
from chat.pages import PersonRequest, back, dialog, visible
from chat.services import remembering
from chat.services.notices import announce_title

if TYPE_CHECKING:
    from chat import runtime


@require_GET
@login_required
def home(request: PersonRequest) -> HttpResponse:
    """On to the conversation that was used last, or to a new one."""
    newest = Conversation.objects.visible_to(request.user).exclude(messages=None).first()
    return redirect(newest or Conversation.begin(request.user))


@require_POST
@login_required
def new_conversation(request: PersonRequest) -> HttpResponse:
    """Begin a conversation and go there."""
    return redirect(Conversation.begin(request.user))


@require_GET
@never_cache
@login_required
def conversations(request: PersonRequest) -> HttpResponse:
    """The list of conversations, or those whose title holds `q`."""
    context = _sidebar(request, current=_uuid(request.GET.get("current", "")))
    return render(request, "chat/_list.html" if request.htmx else "chat/list.html", context)


@require_safe
@never_cache
@login_required
def conversation(request: PersonRequest, pk: uuid.UUID) -> HttpResponse:
    """One conversation: the newest messages of its branch, or with `before` those right before that message."""
    shown = visible(request, pk)
    try:
        stretch = transcript.stretch(shown, before=int(request.GET["before"]) if "before" in request.GET else None)
    except (Message.DoesNotExist, ValueError):
        raise Http404 from None
    context = {"conversation": shown, "stretch": stretch}
    if request.htmx:
        return render(request, "chat/_stretch.html", context)
    context |= _sidebar(request, current=pk) | {
        "blank_entries": transcript.blank_entries(),
        "looks": shown.looks.select_related("reader"),
        "max_bytes": settings.MESSAGE_MAX_BYTES,
        "model": _model_status(),
    }
    return render(request, "chat/conversation.html", context)


@require_http_methods(["GET", "POST"])
@never_cache
@login_required
def rename(request: PersonRequest, pk: uuid.UUID) -> HttpResponse:
    """Give a conversation another title."""
    renamed = visible(request, pk)
    form = RenameForm(request.POST or None, initial={"title": str(renamed)})
    if request.method == "POST" and form.is_valid():
        Conversation.objects.filter(pk=pk).update(title=form.cleaned_data["title"])
        announce_title(pk, form.cleaned_data["title"])
        return redirect(back(request, renamed.get_absolute_url()))
    return dialog(request, "rename", {"conversation": renamed, "form": form})


@require_http_methods(["GET", "POST"])
@never_cache
@login_required
def delete(request: PersonRequest, pk: uuid.UUID) -> HttpResponse:
    """Delete a conversation with everything in it, after asking."""
    doomed = visible(request, pk)
    if request.method == "POST":
        address = doomed.get_absolute_url()
        remembering.delete(pk, doomed.owner_id)
        after = back(request, "home")
        return redirect("home" if after == address else after)
    return dialog(request, "delete", {"conversation": doomed})


@require_GET
def healthz(request: HttpRequest) -> HttpResponse:  # noqa: ARG001
    """The process answers; nothing else is asked."""
    return HttpResponse("ok", content_type="text/plain")


@require_GET
@never_cache
def readyz(request: HttpRequest) -> HttpResponse:  # noqa: ARG001
    """Whether replies can be written and kept now: 200, or 503 with the reason."""
    status = _model_status()
    reason = status.reason or ("" if is_reachable() else "The database cannot be reached. The log has the reason.")
    answer = {"ready": status.ready and not reason, "reason": reason, "model": status.model}
    return JsonResponse(answer, status=200 if answer["ready"] else 503)


def _model_status() -> "runtime.RuntimeStatus":
    from chat import runtime  # here, so that addresses can be resolved without the engine's libraries

    return runtime.status()


def _sidebar(request: PersonRequest, current: uuid.UUID | None) -> dict[str, Any]:
    query = typed.clean(request.GET.get("q", "")).strip()
    groups = sidebar.groups(request.user, query, current)
    listed = sum(len(group.conversations) for group in groups)
    return {
        "query": query,
        "current": current,
        "groups": groups,
        "is_cut": listed == sidebar.LIST_SIZE,
        "listed": listed,
    }


def _uuid(text: str) -> uuid.UUID | None:
    try:
        return uuid.UUID(text)
    except ValueError:
        return None
