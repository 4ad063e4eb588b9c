"""People and groups in the panel."""

from typing import Any

from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin as DjangoGroupAdmin
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.forms import UserChangeForm
from django.contrib.auth.models import Group
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import models
from django.http import HttpRequest, HttpResponse

from accounts.admin.editor import editor_of
from accounts.models import User
from accounts.rights import groups_to_give, may_change


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
        is_owner = editor_of(request).is_superuser
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
        form.editor = editor_of(request)
        return form

    def formfield_for_manytomany(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        """Offers those groups alone that the editor may hand on."""
        if db_field.name == "groups":
            kwargs["queryset"] = groups_to_give(editor_of(request))
        return super().formfield_for_manytomany(db_field, request, **kwargs)

    def has_change_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        """Nobody changes people who can do more than he."""
        return super().has_change_permission(request, obj) and (obj is None or may_change(editor_of(request), obj))

    def has_delete_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        """Owners only, and not themselves: with a person everything that person wrote is deleted."""
        return editor_of(request).is_superuser and obj != request.user

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
        if not editor_of(request).is_superuser:
            raise PermissionDenied("Only owners may set another person's password.")
        return super().user_change_password(request, id, form_url)

    def delete_model(self, request: HttpRequest, obj: User) -> None:
        """With everything that this person wrote, wherever it is kept."""
        from chat.services import remembering  # here, so that commands start without the engine's libraries

        with remembering.deleting_person(obj.pk):
            super().delete_model(request, obj)

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
        return editor_of(request).is_superuser

    def has_change_permission(self, request: HttpRequest, obj: Group | None = None) -> bool:
        """Owners only."""
        return editor_of(request).is_superuser

    def has_delete_permission(self, request: HttpRequest, obj: Group | None = None) -> bool:
        """Owners only."""
        return editor_of(request).is_superuser


admin.site.unregister(Group)
admin.site.register(Group, OwnersGroupAdmin)
