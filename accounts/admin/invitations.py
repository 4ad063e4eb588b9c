"""Invitations in the panel."""

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone

from accounts.admin.editor import editor_of
from accounts.groups import administrators
from accounts.links import link_path
from accounts.models import Invitation, User
from accounts.rights import held_by


class StateFilter(admin.SimpleListFilter):
    """Open, used or expired."""

    title = "state"
    parameter_name = "state"

    def lookups(self, *_: object) -> list[tuple[str, str]]:
        """The three states."""
        return [("open", "Open"), ("used", "Used"), ("expired", "Expired")]

    def queryset(self, _: HttpRequest, queryset: QuerySet[Invitation]) -> QuerySet[Invitation]:
        """Those in the chosen state."""
        now = timezone.now()
        states = {
            "open": Q(accepted_at=None, expires_at__gt=now),
            "used": Q(accepted_at__isnull=False),
            "expired": Q(accepted_at=None, expires_at__lte=now),
        }
        return queryset.filter(states.get(self.value() or "", Q()))


@admin.register(Invitation)
class InvitationAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """Links to be sent to people: made here, shown once, revoked by deleting them."""

    fields = ("role", "note")
    list_display = ("__str__", "role", "state", "created_by", "created_at")
    list_filter = (StateFilter, "role")
    list_select_related = ("created_by", "accepted_by")
    list_per_page = 50
    search_fields = ("note", "accepted_by__username")
    show_full_result_count = False

    @admin.display(description="State")
    def state(self, invitation: Invitation) -> str:
        """What became of it."""
        if invitation.accepted_at:
            return f"Used by {invitation.accepted_by or 'a person since deleted'}"
        until = timezone.localtime(invitation.expires_at)
        return "Expired" if invitation.is_expired else f"Open until {until:%Y-%m-%d %H:%M}"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Invitation]:
        """Only owners see owners' invitations."""
        rows = super().get_queryset(request)
        return rows if editor_of(request).is_superuser else rows.exclude(role=Invitation.Role.OWNER)

    def has_change_permission(self, request: HttpRequest, obj: Invitation | None = None) -> bool:
        """Never: revoke it and send another."""
        return False

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        """Filters of the list only."""
        return lookup in {"role__exact", "state"}

    def formfield_for_choice_field(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        """Offers those roles alone that the sender may hand on."""
        if db_field.name == "role":
            kwargs["choices"] = _roles_to_give(editor_of(request))
            kwargs["widget"] = forms.RadioSelect
        return super().formfield_for_choice_field(db_field, request, **kwargs)

    def save_model(self, request: HttpRequest, obj: Invitation, form: Any, change: bool) -> None:
        """Makes the link; its token lives as long as this request."""
        obj.created_by = editor_of(request)
        request.invitation_token = obj.seal()  # type: ignore[attr-defined]
        super().save_model(request, obj, form, change)

    def response_add(self, request: HttpRequest, obj: Invitation, post_url_continue: str | None = None) -> HttpResponse:
        """The page with the link: the only time it is shown, so it must not pass through a cookie or a session."""
        link = request.build_absolute_uri(link_path(obj, request.invitation_token))  # type: ignore[attr-defined]
        context = {
            **self.admin_site.each_context(request),
            "title": "Invitation",
            "opts": self.opts,
            "invitation": obj,
            "link": link,
        }
        return TemplateResponse(request, "admin/accounts/invitation/link.html", context)


def _roles_to_give(sender: User) -> list[tuple[str, str]]:
    roles = [Invitation.Role.MEMBER]
    if not administrators().permissions.exclude(pk__in=held_by(sender)).exists():
        roles.append(Invitation.Role.ADMINISTRATOR)
    if sender.is_superuser:
        roles.append(Invitation.Role.OWNER)
    return [(role.value, str(role.label)) for role in roles]
