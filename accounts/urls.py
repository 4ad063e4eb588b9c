"""The addresses of logging in and getting an account."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
