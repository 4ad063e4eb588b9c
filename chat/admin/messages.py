"""Everybody's messages, to be searched by those who may read them."""

from typing import Any

from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.html import format_html

from chat.admin.content import PersonFilter, ReadOnlyAdmin, shorten
from chat.admin.reasons import SEARCH, ask, may_read_any, reason_for, record
from chat.models import Message


class OwnerFilter(PersonFilter):
    """By whose conversation it is in."""

    path = "conversation__owner"


class _Page(ChangeList):
    """Records that the conversations of the messages on this page were looked into."""

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        rows: list[Any] = list(self.result_list)
        if reason := reason_for(request, SEARCH):
            record(request, [row.conversation for row in rows], f"In a list of messages: {reason}")
        self.result_list = rows


@admin.register(Message)
class MessageAdmin(ReadOnlyAdmin):
    """One line a message, with the way to its place in the transcript."""

    list_display = ("beginning", "person", "role", "status", "created_at")
    list_display_links = None
    list_filter = (OwnerFilter, "created_at", "role", "status")
    list_select_related = ("conversation__owner",)
    ordering = ("-id",)
    sortable_by = ()
    filterable = frozenset({"person", "created_at", "role", "status"})
    search_fields = ("text",)
    search_help_text = "In the text of messages. The people whose messages are listed will see that you looked."

    @admin.display(description="Conversation of")
    def person(self, message: Message) -> str:
        """Whose conversation it is in."""
        return str(message.conversation.owner)

    @admin.display(description="Text")
    def beginning(self, message: Message) -> str:
        """Its first words, and the way to where it was said."""
        return format_html('<a href="{}">{}</a>', _place(message), shorten(message.text) or "(empty)")

    def has_view_permission(self, request: HttpRequest, obj: Message | None = None) -> bool:
        """For those who may read any conversation."""
        return may_read_any(request)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Message]:
        """Without what the list does not show."""
        return super().get_queryset(request).defer("token_ids", "reasoning", "usage", "conversation__system_prompt")

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        """One that records."""
        return _Page

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Messages with this text in them."""
        return (queryset.filter(text__icontains=term.strip()) if term.strip() else queryset), False

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        """The list shows texts, so it asks for a reason before anything else."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        if not reason_for(request, SEARCH):
            context = {**self.admin_site.each_context(request), "title": "Look through everybody's messages"}
            return ask(request, SEARCH, **context, opts=self.opts)
        return super().changelist_view(request, extra_context)

    def change_view(self, request: HttpRequest, object_id: str, *_: Any, **__: Any) -> HttpResponse:
        """On to its place in the transcript."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        if (message := self.get_object(request, object_id)) is None:
            raise Http404
        return redirect(_place(message))


def _place(message: Message) -> str:
    page = reverse("admin:chat_conversation_change", args=[message.conversation_id])
    return f"{page}?message={message.pk}#message-{message.pk}"
