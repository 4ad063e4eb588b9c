"""The addresses of conversations, of the health checks and of the figures."""

from django.urls import path

from chat import fact_views, memory_views, views
from chat.metrics.views import metrics

urlpatterns = [
    path("", views.home, name="home"),
    path("conversations/", views.conversations, name="conversations"),
    path("conversations/new/", views.new_conversation, name="new_conversation"),
    path("conversations/<uuid:pk>/", views.conversation, name="conversation"),
    path("conversations/<uuid:pk>/rename/", views.rename, name="rename_conversation"),
    path("conversations/<uuid:pk>/delete/", views.delete, name="delete_conversation"),
    path("account/facts/", fact_views.facts, name="facts"),
    path("account/facts/switch/", fact_views.switch_facts, name="switch_facts"),
    path("account/facts/delete/", fact_views.delete_all_facts, name="delete_all_facts"),
    path("account/facts/<int:fact>/", fact_views.correct_fact, name="fact"),
    path("account/facts/<int:fact>/delete/", fact_views.delete_fact, name="delete_fact"),
    path("conversations/<uuid:pk>/memory/", memory_views.memory, name="memory"),
    path("conversations/<uuid:pk>/memory/compact/", memory_views.compact_memory, name="compact_memory"),
    path("conversations/<uuid:pk>/summaries/<int:summary>/edit/", memory_views.edit_summary, name="edit_summary"),
    path(
        "conversations/<uuid:pk>/summaries/<int:summary>/restore/", memory_views.restore_summary, name="restore_summary"
    ),
    path("conversations/<uuid:pk>/messages/<int:message>/pin/", memory_views.pin_message, name="pin_message"),
    path("conversations/<uuid:pk>/messages/<int:message>/forget/", memory_views.forget_message, name="forget_message"),
    path("conversations/<uuid:pk>/messages/<int:message>/sent/", memory_views.sent_message, name="sent_message"),
    path("healthz", views.healthz, name="healthz"),
    path("readyz", views.readyz, name="readyz"),
    path("metrics", metrics, name="metrics"),
]
