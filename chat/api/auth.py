"""Who asks: the owner of the key in the Authorization header. Cookies and query strings open nothing here."""

from typing import Any

from django.http import HttpRequest
from ninja.security import HttpBearer

from accounts import keys
from accounts.guessing import client_address
from accounts.models import User
from chat.database import in_database


class KeyRequest(HttpRequest):
    """A request with a key; `auth` is whose it is."""

    auth: User


class ApiKeyAuth(HttpBearer):
    """`Authorization: Bearer KEY`. Its errors are accounts.keys' own."""

    async def authenticate(self, request: HttpRequest, token: str) -> User:
        """The person; raises WrongKey and TooManyFailures."""
        return await in_database(keys.authenticate, token.strip(), client_address(request))

    def __call__(self, request: HttpRequest) -> Any:
        """A coroutine for the person, or None without a key."""
        return super().__call__(request)
