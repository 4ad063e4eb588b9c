"""What a conversation remembers, seen and changed by the person whose it is."""

import uuid
from typing import Any

from asgiref.sync import async_to_sync
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django_htmx.http import trigger_client_event

from chat import memory_panel
from chat.memory_forms import ForgetForm, SummaryForm
from chat.models import Conversation, Message, RefusedPost
from chat.pages import PersonRequest, dialog, visible
from chat.services import remembering

REFUSED = 422


@require_safe
@never_cache
@login_required
def memory(request: PersonRequest, pk: uuid.UUID) -> HttpResponse:
    """The panel, or with `part=gauge` the gauge alone."""
    return _panel(request, visible(request, pk))


@require_http_methods(["GET", "POST"])
@never_cache
@login_required
def edit_summary(request: PersonRequest, pk: uuid.UUID, summary: int) -> HttpResponse:
    """Correct a summary: a new version of it, by the person. A text that is refused stays in the box."""
    conversation = visible(request, pk)
    edited = get_object_or_404(conversation.summaries, pk=summary)
    form = SummaryForm(request.POST or None, initial={"text": edited.text})
    if request.method == "POST" and form.is_valid():
        try:
            remembering.edit(pk, request.user.pk, summary=summary, text=form.cleaned_data["text"], tab=_tab(request))
        except RefusedPost as refused:
            form.add_error("text", str(refused))
        else:
            return _changed(request, conversation, "Saved. The next reply is written with it.")
    return _panel(request, conversation, status=REFUSED if form.errors else 200, form=form, edited=edited)


@require_POST
@never_cache
@login_required
def restore_summary(request: PersonRequest, pk: uuid.UUID, summary: int) -> HttpResponse:
    """Go back to an earlier version."""
    conversation = visible(request, pk)
    get_object_or_404(conversation.summaries, pk=summary)
    try:
        remembering.restore(pk, request.user.pk, summary=summary, tab=_tab(request))
    except RefusedPost as refused:
        return _panel(request, conversation, status=REFUSED, refused=str(refused))
    return _changed(request, conversation, "Restored. The next reply is written with it.")


@require_POST
@never_cache
@login_required
def compact_memory(request: PersonRequest, pk: uuid.UUID) -> HttpResponse:
    """Have the older messages summarised now instead of when the context is full."""
    conversation = visible(request, pk)
    try:
        async_to_sync(remembering.compact)(pk, request.user.pk, tab=_tab(request))
    except RefusedPost as refused:
        return _panel(request, conversation, status=REFUSED, refused=str(refused))
    return _changed(request, conversation)


@require_POST
@never_cache
@login_required
def pin_message(request: PersonRequest, pk: uuid.UUID, message: int) -> HttpResponse:
    """Keep a message word for word from now on (`pinned=1`), or no longer."""
    conversation = visible(request, pk)
    pinned = get_object_or_404(conversation.messages, pk=message)
    wish = request.POST.get("pinned") == "1"
    try:
        remembering.pin(pk, request.user.pk, message=message, pinned=wish, tab=_tab(request))
    except RefusedPost as refused:
        if request.htmx:
            return HttpResponse(str(refused), status=REFUSED, content_type="text/plain; charset=utf-8")
        return render(request, "chat/refused.html", _about(conversation, pinned, refused=refused), status=REFUSED)
    return HttpResponse(status=204) if request.htmx else redirect(_place(pinned))


@require_http_methods(["GET", "POST"])
@never_cache
@login_required
def forget_message(request: PersonRequest, pk: uuid.UUID, message: int) -> HttpResponse:
    """Erase what a message said, after asking."""
    conversation = visible(request, pk)
    doomed = get_object_or_404(conversation.messages, pk=message)
    form = ForgetForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        try:
            ids = remembering.forget(pk, request.user.pk, message=message, **form.cleaned_data)
        except RefusedPost as refused:
            form.add_error(None, str(refused))
        else:
            gone = HttpResponse(status=204)
            return (
                trigger_client_event(gone, "forgotten", {"messages": ids}) if request.htmx else redirect(_place(doomed))
            )
    return dialog(request, "forget", _about(conversation, doomed, form=form), status=REFUSED if form.errors else 200)


@require_safe
@never_cache
@login_required
def sent_message(request: PersonRequest, pk: uuid.UUID, message: int) -> HttpResponse:
    """What the model was shown to write a reply."""
    conversation = visible(request, pk)
    reply = get_object_or_404(conversation.messages, pk=message, role=Message.Role.ASSISTANT)
    return dialog(request, "sent", _about(conversation, reply, sent=memory_panel.sent(reply)))


def _changed(request: PersonRequest, conversation: Conversation, done: str = "") -> HttpResponse:
    return _panel(request, conversation, done=done) if request.htmx else redirect("memory", conversation.pk)


def _panel(request: PersonRequest, conversation: Conversation, status: int = 200, **context: Any) -> HttpResponse:
    context |= {"conversation": conversation, "panel": memory_panel.panel(conversation.pk, request.user.pk)}
    if request.GET.get("part") == "gauge":
        return render(request, "chat/_memory_gauge.html", context)
    return render(request, "chat/_memory.html" if request.htmx else "chat/memory.html", context, status=status)


def _about(conversation: Conversation, message: Message, **context: Any) -> dict[str, Any]:
    return {"conversation": conversation, "message": message, "place": _place(message)} | context


def _tab(request: PersonRequest) -> str:
    """The page that asks, by the name that it chose for itself; the notice of what it did carries it."""
    try:
        return str(uuid.UUID(request.headers.get("X-Tab", "")))
    except ValueError:
        return ""


def _place(message: Message) -> str:
    return f"{message.conversation.get_absolute_url()}#message-{message.pk}"
