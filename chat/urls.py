"""The addresses of conversations and of the health checks."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
