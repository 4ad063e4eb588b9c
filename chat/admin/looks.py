"""The record of who read other people's conversations, when and why."""

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from accounts.models import User
from chat.admin.content import ReadOnlyAdmin
from chat.models import Look


class ReaderFilter(admin.SimpleListFilter):
    """By who read."""

    title = "reader"
    parameter_name = "reader"

    def lookups(self, *_: object) -> list[tuple[str, str]]:
        """Everybody who has read something."""
        readers = User.objects.filter(pk__in=Look.objects.values("reader_id"))
        return [(str(pk), name) for pk, name in readers.values_list("pk", "username")]

    def queryset(self, _: HttpRequest, queryset: QuerySet[Look]) -> QuerySet[Look]:
        """That reader's only."""
        if (value := self.value()) is None:
            return queryset
        return queryset.filter(reader_id=int(value)) if value.isdecimal() else queryset.none()


@admin.register(Look)
class LookAdmin(ReadOnlyAdmin):
    """Who, whose, when and why; never what it said."""

    list_display = ("at", "who", "whose", "reason")
    fields = ("at", "who", "whose", "reason")
    list_filter = (ReaderFilter, "at")
    list_select_related = ("reader", "conversation__owner")
    search_fields = ("reason", "reader__username", "conversation__owner__username")
    filterable = frozenset({"reader", "at"})

    @admin.display(description="Reader", ordering="reader__username")
    def who(self, look: Look) -> str:
        """Who read it."""
        return str(look.reader or "A person since deleted")

    @admin.display(description="Conversation of", ordering="conversation__owner__username")
    def whose(self, look: Look) -> str:
        """Whose conversation it was."""
        return str(look.conversation.owner)
