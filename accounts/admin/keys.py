"""API keys in the panel: administrators see whose they are and revoke them, and never see a key."""

from django.contrib import admin, messages
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils import timezone

from accounts.models import ApiKey


class KeyStateFilter(admin.SimpleListFilter):
    """Active or ended."""

    title = "state"
    parameter_name = "state"

    def lookups(self, *_: object) -> list[tuple[str, str]]:
        """The states."""
        return [("active", "Active"), ("expired", "Expired"), ("revoked", "Revoked")]

    def queryset(self, _: HttpRequest, queryset: QuerySet[ApiKey]) -> QuerySet[ApiKey]:
        """Those in the chosen state."""
        states = {
            "active": Q(pk__in=ApiKey.objects.usable()),
            "expired": Q(revoked_at=None, expires_at__lte=timezone.now()),
            "revoked": Q(revoked_at__isnull=False),
        }
        return queryset.filter(states.get(self.value() or "", Q()))


@admin.register(ApiKey)
class ApiKeyAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """Everybody's keys. People make their own on their account page; here they are seen and revoked."""

    fields = ("name", "owner", "shown", "state", "created_at", "last_used_at", "expires_at", "revoked_at")
    readonly_fields = fields
    list_display = ("name", "owner", "shown", "state", "last_used_at", "created_at", "expires_at")
    list_filter = (KeyStateFilter,)
    list_select_related = ("owner",)
    list_per_page = 50
    search_fields = ("name", "owner__username", "prefix", "last_four")
    search_help_text = "A name, a person, or how a key begins or ends."
    show_full_result_count = False
    actions = ("revoke",)

    @admin.display(description="Key")
    def shown(self, key: ApiKey) -> str:
        """Its beginning and end."""
        return key.shown

    @admin.display(description="State")
    def state(self, key: ApiKey) -> str:
        """Whether it opens the door."""
        return key.state

    @admin.action(description="Revoke the selected keys at once", permissions=["revoke"])
    def revoke(self, request: HttpRequest, keys: QuerySet[ApiKey]) -> None:
        """Refuse them from now on, and keep who did that."""
        revoked = [key for key in keys if key.revoke()]
        for key in revoked:
            self.log_change(request, key, "Revoked.")
        count = f"{len(revoked)} key{'' if len(revoked) == 1 else 's'}"
        self.message_user(request, f"{count} revoked.", messages.SUCCESS if revoked else messages.WARNING)

    def has_revoke_permission(self, request: HttpRequest) -> bool:
        """Administrators may."""
        return request.user.has_perm("accounts.revoke_any_api_key")

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Never: a key is its owner's secret."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: ApiKey | None = None) -> bool:
        """Never: there is nothing to change."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: ApiKey | None = None) -> bool:
        """Never: revoking keeps on record what it was."""
        return False

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        """Filters of the list only; nobody searches for hashes."""
        return lookup == "state"
