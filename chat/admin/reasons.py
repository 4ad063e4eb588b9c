"""Reading what others wrote takes a right and a reason; each reading is recorded and shown to whose it is."""

import time
from collections.abc import Iterable

from django import forms
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse

from accounts.models import User
from chat.models import Conversation, Look
from chat.typed import clean, is_blank

# What a reason stands for besides single conversations: the lists that show texts.
SEARCH = "search"
_KEY = "reasons"
_LASTS = 15 * 60


class ReasonForm(forms.Form):
    """Why somebody wants to read."""

    reason = forms.CharField(
        label="Why do you want to read it?",
        # Room for a prefix in Look.reason's 300 characters.
        max_length=280,
        widget=forms.Textarea(attrs={"rows": 3, "autofocus": True}),
        help_text="The person whose conversation it is sees this, together with your name and the time.",
    )

    def clean_reason(self) -> str:
        """Something that can be seen."""
        reason = clean(self.cleaned_data["reason"])
        if is_blank(reason):
            raise ValidationError("Say why.")
        return reason


def may_read_any(request: HttpRequest) -> bool:
    """Whether this person holds the right at all."""
    return request.user.has_perm("chat.read_any_conversation")


def reason_for(request: HttpRequest, subject: str) -> str | None:
    """The reason given in the last quarter of an hour for a conversation (its id) or for SEARCH."""
    reason, until = request.session.get(_KEY, {}).get(subject, (None, 0))
    return reason if until > time.time() else None


def ask(request: HttpRequest, subject: str, **context: object) -> HttpResponse:
    """The form; once it is filled in, the same address again."""
    form = ReasonForm(request.POST if "reason" in request.POST else None)
    if form.is_valid():
        _remember(request, subject, form.cleaned_data["reason"])
        return redirect(request.get_full_path())
    return TemplateResponse(request, "admin/chat/reason.html", context | {"form": form})


def record(request: HttpRequest, conversations: Iterable[Conversation], reason: str) -> None:
    """One look for each conversation that is not the reader's own. Comes before anything is shown."""
    assert isinstance(request.user, User)
    others = {row.pk: row for row in conversations if row.owner_id != request.user.pk}
    Look.objects.bulk_create([Look(conversation=row, reader=request.user, reason=reason) for row in others.values()])


def _remember(request: HttpRequest, subject: str, reason: str) -> None:
    now = time.time()
    valid = {key: value for key, value in request.session.get(_KEY, {}).items() if value[1] > now}
    request.session[_KEY] = valid | {subject: [reason, now + _LASTS]}
