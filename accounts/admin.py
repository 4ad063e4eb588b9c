"""People, groups and invitations in the panel."""

from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin as DjangoGroupAdmin
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.forms import UserChangeForm
from django.contrib.auth.models import Group
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import models
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone

from accounts.groups import administrators
from accounts.links import link_path
from accounts.models import Invitation, User
from accounts.rights import groups_to_give, held_by, may_change


class PersonForm(UserChangeForm):  # type: ignore[type-arg]
    """A person's entry; nobody can lock himself out with it, so there is always an owner left."""

    editor: User  # Set by PersonAdmin.get_form.

    def clean_username(self) -> str:
        """Names that differ in case only would be mistaken for one another."""
        username: str = self.cleaned_data["username"]
        if User.objects.filter(username__iexact=username).exclude(pk=self.instance.pk).exists():
            raise ValidationError("A person with that username already exists.")
        return username

    def clean(self) -> dict[str, Any]:
        """Keeps the editor's own way into the panel open."""
        cleaned: dict[str, Any] = super().clean() or {}
        if self.instance.pk == self.editor.pk:
            for name in ("is_active", "is_staff", "is_superuser"):
                if getattr(self.editor, name) and cleaned.get(name) is False:
                    self.add_error(name, "You cannot take this from yourself. Ask another administrator.")
        return cleaned


@admin.register(User)
class PersonAdmin(UserAdmin):  # type: ignore[type-arg]
    """Adding, deactivating and grouping people; everything goes through User.save(), which ends sessions."""

    form = PersonForm
    list_display = ("username", "first_name", "last_name", "is_active", "is_staff", "is_superuser", "last_login")
    list_filter = ("is_active", "is_staff", "is_superuser", "groups")
    list_per_page = 50
    show_full_result_count = False
    delete_confirmation_template = "admin/accounts/user/delete.html"
    readonly_fields = ("last_login", "date_joined")

    def get_fieldsets(self, request: HttpRequest, obj: User | None = None) -> Any:
        """Passwords, owners and single permissions are the owners' affair."""
        if obj is None:
            return self.add_fieldsets
        is_owner = _person(request).is_superuser
        rights = ("is_active", "is_staff", "groups", *(("is_superuser", "user_permissions") if is_owner else ()))
        return (
            (None, {"fields": ("username", "password") if is_owner else ("username",)}),
            ("Name", {"fields": ("first_name", "last_name", "email")}),
            ("What they may do", {"fields": rights}),
            ("Dates", {"fields": ("last_login", "date_joined")}),
        )

    def get_form(self, request: HttpRequest, obj: User | None = None, change: bool = False, **kwargs: Any) -> Any:
        """Tells the form who fills it in."""
        form: Any = super().get_form(request, obj, change=change, **kwargs)
        form.editor = _person(request)
        return form

    def formfield_for_manytomany(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        """Offers those groups alone that the editor may hand on."""
        if db_field.name == "groups":
            kwargs["queryset"] = groups_to_give(_person(request))
        return super().formfield_for_manytomany(db_field, request, **kwargs)

    def has_change_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        """Nobody changes people who can do more than he."""
        return super().has_change_permission(request, obj) and (obj is None or may_change(_person(request), obj))

    def has_delete_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        """Owners only, and not themselves: with a person everything that person wrote is deleted."""
        return _person(request).is_superuser and obj != request.user

    def get_actions(self, request: HttpRequest) -> Any:
        """People are deleted one by one."""
        actions = super().get_actions(request)
        actions.pop("delete_selected", None)
        return actions

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        """Filters of the list only; nobody searches for hashes of passwords."""
        return lookup.split("__", maxsplit=1)[0] in self.list_filter and super().lookup_allowed(lookup, value, request)

    def user_change_password(self, request: HttpRequest, id: str, form_url: str = "") -> HttpResponse:  # noqa: A002
        """Owners only: whoever sets a person's password can log in as that person and read everything."""
        if not _person(request).is_superuser:
            raise PermissionDenied("Only owners may set another person's password.")
        return super().user_change_password(request, id, form_url)

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """How much goes, never what it says: titles are content too."""
        counts = {
            "conversation": sum(person.conversations.count() for person in objs),
            "message": sum(person.conversations.aggregate(n=models.Count("messages"))["n"] for person in objs),
        }
        return [str(person) for person in objs], counts, set(), []


class OwnersGroupAdmin(DjangoGroupAdmin):
    """Groups hold permissions, so owners alone change them; who may view them may view them."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Owners only."""
        return _person(request).is_superuser

    def has_change_permission(self, request: HttpRequest, obj: Group | None = None) -> bool:
        """Owners only."""
        return _person(request).is_superuser

    def has_delete_permission(self, request: HttpRequest, obj: Group | None = None) -> bool:
        """Owners only."""
        return _person(request).is_superuser


admin.site.unregister(Group)
admin.site.register(Group, OwnersGroupAdmin)


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
        return rows if _person(request).is_superuser else rows.exclude(role=Invitation.Role.OWNER)

    def has_change_permission(self, request: HttpRequest, obj: Invitation | None = None) -> bool:
        """Never: revoke it and send another."""
        return False

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        """Filters of the list only."""
        return lookup in {"role__exact", "state"}

    def formfield_for_choice_field(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        """Offers those roles alone that the sender may hand on."""
        if db_field.name == "role":
            kwargs["choices"] = _roles_to_give(_person(request))
            kwargs["widget"] = forms.RadioSelect
        return super().formfield_for_choice_field(db_field, request, **kwargs)

    def save_model(self, request: HttpRequest, obj: Invitation, form: Any, change: bool) -> None:
        """Makes the link; its token lives as long as this request."""
        obj.created_by = _person(request)
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


def _person(request: HttpRequest) -> User:
    assert isinstance(request.user, User), "the panel lets nobody else in"
    return request.user
