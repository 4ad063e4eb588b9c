"""Everybody's conversations: a list without content, a search, and the transcript for who may read it."""

from datetime import datetime
from typing import Any

from django.contrib import admin
from django.contrib.admin.views.main import SEARCH_VAR, ChangeList
from django.core.exceptions import PermissionDenied
from django.db.models import Case, Count, F, Q, QuerySet, Value, When
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import path

from chat import memory_panel
from chat.admin.content import PersonFilter, ReadOnlyAdmin
from chat.admin.memory_check import memory_check
from chat.admin.reasons import SEARCH, ask, may_read_any, reason_for, record
from chat.admin.transcript import reply_asked_for, transcript
from chat.models import Conversation, Message


class _Page(ChangeList):
    """Counts the messages of the conversations on this page with one query, and records what a search shows."""

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        rows: list[Any] = list(self.result_list)
        counts = dict(
            Message.objects.filter(conversation__in=[row.pk for row in rows])
            .order_by()
            .values_list("conversation")
            .annotate(n=Count("*"))
        )
        for row in rows:
            row.num_messages = counts.get(row.pk, 0)
        if self.query and (reason := reason_for(request, SEARCH)):
            record(request, rows, f"Found in a search: {reason}")
        self.result_list = rows


@admin.register(Conversation)
class ConversationAdmin(ReadOnlyAdmin):
    """Who talked, how much and when; titles and texts only for who has the right to read."""

    list_display = ("shown_title", "owner", "num_messages", "started", "last_used")
    list_filter = (PersonFilter, "created_at")
    list_select_related = ("owner",)
    date_hierarchy = "updated_at"
    ordering = ("-updated_at", "-id")
    sortable_by = ("owner", "started", "last_used")
    filterable = frozenset({"person", "created_at", "updated_at"})
    search_help_text = "In titles and messages. The people whose conversations are found will see that you searched."

    @admin.display(description="Title")
    def shown_title(self, conversation: Any) -> str:
        """The title for who may read it."""
        return str(conversation.shown_title)

    @admin.display(description="Messages")
    def num_messages(self, conversation: Any) -> int:
        """Of all branches."""
        return int(conversation.num_messages)

    @admin.display(description="Started", ordering="created_at")
    def started(self, conversation: Conversation) -> datetime:
        """When it began."""
        return conversation.created_at

    @admin.display(description="Last used", ordering="updated_at")
    def last_used(self, conversation: Conversation) -> datetime:
        """When somebody last wrote in it."""
        return conversation.updated_at

    def get_urls(self) -> list[Any]:
        """The memory's page as well: it is about everybody's conversations, though it shows none."""
        address = path("memory-check/", self.admin_site.admin_view(self.check_memory), name="memory_check")
        return [address, *super().get_urls()]

    def check_memory(self, request: HttpRequest) -> HttpResponse:
        """How good the memory is, for every administrator."""
        return memory_check(request, self.admin_site.each_context(request))

    def has_view_permission(self, request: HttpRequest, obj: Conversation | None = None) -> bool:
        """Seeing the list is one right, reading another; who may read may see the list."""
        return super().has_view_permission(request, obj) or may_read_any(request)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Conversation]:
        """With the titles that this person may read."""
        readable = Q() if may_read_any(request) else Q(owner_id=request.user.pk)
        title = Case(When(Q(title=""), then=Value("New chat")), default=F("title"))
        shown = title if not readable else Case(When(readable, then=title), default=Value("(hidden)"))
        rows: QuerySet[Conversation] = super().get_queryset(request)
        begun = rows.filter(head__isnull=False)  # The page keeps an empty one ready for everybody.
        return begun.annotate(shown_title=shown)

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        """With counts of the page's rows only."""
        return _Page

    def get_search_fields(self, request: HttpRequest) -> tuple[str, ...]:
        """A search tells what others wrote, so it is for those who may read that."""
        return ("title", "messages__text") if may_read_any(request) else ()

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Conversations with this text in the title or in a message, found in one pass over the messages."""
        if not (term := term.strip()) or not may_read_any(request):
            return queryset, False
        said = Message.objects.filter(text__icontains=term).order_by().values("conversation_id")
        return queryset.filter(Q(title__icontains=term) | Q(pk__in=said)), False

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        """The list; a search asks for a reason first."""
        searches = may_read_any(request) and request.GET.get(SEARCH_VAR, "").strip()
        if searches and not reason_for(request, SEARCH):
            return ask(request, SEARCH, **self._page(request, "Search other people's conversations"))
        return super().changelist_view(request, extra_context)

    def change_view(self, request: HttpRequest, object_id: str, *_: Any, **__: Any) -> HttpResponse:
        """The transcript, or with `sent` what was sent for a reply: another person's with the right and a reason."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        conversation: Conversation | None = self.get_object(request, object_id)
        if conversation is None:
            raise Http404
        if conversation.owner_id != request.user.pk:
            if not may_read_any(request):
                return TemplateResponse(
                    request, "admin/chat/refused.html", self._page(request, "Not readable"), status=403
                )
            if not (reason := reason_for(request, str(conversation.pk))):
                return ask(
                    request,
                    str(conversation.pk),
                    **self._page(request, "Read a conversation"),
                    whose=conversation.owner,
                )
            record(request, [conversation], reason)
        context = self._page(request, str(conversation))
        if reply := reply_asked_for(conversation, request.GET):
            context |= {"conversation": conversation, "message": reply, "sent": memory_panel.sent(reply)}
            return TemplateResponse(request, "admin/chat/sent.html", context)
        context |= transcript(conversation, request.GET)
        return TemplateResponse(request, "admin/chat/transcript.html", context)

    def _page(self, request: HttpRequest, title: str) -> dict[str, Any]:
        return {**self.admin_site.each_context(request), "title": title, "opts": self.opts}
