"""Who is at work in the panel."""

from django.http import HttpRequest

from accounts.models import User


def editor_of(request: HttpRequest) -> User:
    """The person who makes this request."""
    assert isinstance(request.user, User), "the panel lets nobody else in"
    return request.user
