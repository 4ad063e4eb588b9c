"""The panel's page that checks the memory, and says whether the chosen model is good enough to summarise."""

from datetime import datetime
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse

from chat.memory.checking.background import background
from chat.memory.checking.values import Value, cells


def memory_check(request: HttpRequest, context: dict[str, Any]) -> HttpResponse:
    """The last result and how far a run is; POST with `start` or `stop`. `context` is the panel's own."""
    if request.method == "POST":
        if "start" in request.POST and not background.start():
            messages.info(request, "A check is running already.")
        if "stop" in request.POST and not background.stop():
            messages.info(request, "No check is running.")
        return redirect(request.path)
    state = background.state
    context |= {
        "title": "Check the memory",
        "state": state,
        "so_far": _shown(state.so_far),
        "result": _shown(background.result()),
    }
    return TemplateResponse(request, "admin/chat/memory_check.html", context)


def _shown(figures: dict[str, Any] | None) -> dict[str, Any] | None:
    """As the page shows it."""
    if figures is None:
        return None
    values = [Value.of(value) for value in figures["values"]]
    return figures | {
        "at": datetime.fromisoformat(figures["at"]),
        "rows": [(cells(value), value) for value in values],
        "all_met": figures["met"] == figures["of"],
        "remarks": [value for value in values if value.note],
    }
