"""What every list of the history shares: nothing can be changed, and nothing can be guessed through the address."""

from typing import Any

from django.contrib import admin
from django.db.models import Exists, OuterRef, QuerySet
from django.http import Http404, HttpRequest, HttpResponse

from accounts.models import User
from chat.models import Conversation


class ReadOnlyAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """A list that can be looked at."""

    actions = None
    list_per_page = 50
    list_max_show_all = 0
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER
    view_on_site = False
    # Fields and filters that an address may name. Any other would let people guess at texts letter by letter
    # (?text__startswith=...), because Django allows every field of the model.
    filterable: frozenset[str] = frozenset()

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Never."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Never."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Never: a conversation is deleted by its owner in the chat, or together with the person."""
        return False

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        """The declared filters only."""
        return lookup.split("__", maxsplit=1)[0] in self.filterable

    def history_view(self, request: HttpRequest, object_id: str, extra_context: Any = None) -> HttpResponse:
        """There is none, and the page would show the title."""
        raise Http404


class PersonFilter(admin.SimpleListFilter):
    """By whose conversation it is."""

    title = "person"
    parameter_name = "person"
    path = "owner"

    def lookups(self, *_: object) -> list[tuple[str, str]]:
        """Everybody who has a conversation."""
        talks = Exists(Conversation.objects.filter(owner=OuterRef("pk")))
        return [(str(pk), name) for pk, name in User.objects.filter(talks).values_list("pk", "username")]

    def queryset(self, _: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """That person's only."""
        if (value := self.value()) is None:
            return queryset
        return queryset.filter(**{f"{self.path}_id": int(value)}) if value.isdecimal() else queryset.none()


def shorten(text: str, size: int = 160) -> str:
    """The beginning of a text on one line."""
    line = " ".join(text[: 4 * size].split())
    return line if len(line) <= size else line[:size].rstrip() + "…"
