"""The addresses of conversations, of the health checks and of the figures."""

from django.urls import path

from chat import fact_views, views
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
    path("healthz", views.healthz, name="healthz"),
    path("readyz", views.readyz, name="readyz"),
    path("metrics", metrics, name="metrics"),
]
