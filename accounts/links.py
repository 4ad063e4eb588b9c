"""Addresses of one-time links for those who have no request to build them from."""

from django.conf import settings
from django.urls import reverse

from accounts.models import Invitation


def site_address() -> str:
    """Where the site is opened: its first public address, else host and port as this machine sees them."""
    if settings.ORIGINS:
        return str(settings.ORIGINS[0])
    host = "127.0.0.1" if settings.HOST in {"0.0.0.0", "::", ""} else settings.HOST  # noqa: S104
    return f"http://[{host}]:{settings.PORT}" if ":" in host else f"http://{host}:{settings.PORT}"


def link_path(invitation: Invitation, token: str) -> str:
    """The path of an invitation's page; the owner's has a name of its own."""
    return reverse("setup" if invitation.role == Invitation.Role.OWNER else "accept_invitation", args=[token])
