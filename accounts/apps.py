"""The app that knows people: accounts and the invitations by which they come."""

from django.apps import AppConfig


class AccountsConfig(AppConfig):
    """People and how they get in."""

    name = "accounts"
    verbose_name = "People"
