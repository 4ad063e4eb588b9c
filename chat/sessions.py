"""Who is behind a WebSocket, and the notice that goes out when a session may have ended."""

import asyncio
import hashlib
import logging
from collections.abc import Mapping
from http.cookies import CookieError, SimpleCookie
from importlib import import_module
from typing import Any

from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer
from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.db import transaction
from django.utils.crypto import constant_time_compare

from accounts.models import User

logger = logging.getLogger(__name__)


def key_of(scope: Mapping[str, Any]) -> str | None:
    """The key of the session in the cookies of a connection."""
    raw = b"; ".join(value for name, value in scope["headers"] if name.lower() == b"cookie")
    try:
        morsel = SimpleCookie(raw.decode("latin1")).get(settings.SESSION_COOKIE_NAME)
    except CookieError:
        return None
    return morsel.value if morsel else None


def person_of(key: str | None) -> User | None:
    """The person whose session this is now: logged in, active, with the password of that time. Two short queries.

    Nothing is written: a session that does not hold is left to the next request of a page.
    """
    session = import_module(settings.SESSION_ENGINE).SessionStore(key)
    if session.get(BACKEND_SESSION_KEY) not in settings.AUTHENTICATION_BACKENDS:
        return None
    person = User.objects.filter(pk=session.get(SESSION_KEY), is_active=True).first()
    return person if person and _verified(person, session.get(HASH_SESSION_KEY, "")) else None


def group_of(person: int) -> str:
    """The name under which the sockets of a person are reached."""
    return f"person.{person}"


def digest(key: str | None) -> str:
    """What may be said of a session's key."""
    return hashlib.sha256((key or "").encode()).hexdigest()


def logged_out(user: User | None, request: Any, **_: Any) -> None:
    """Signal: the sockets of this one session must close. The session itself is deleted only afterwards."""
    if user is not None and request is not None:
        _tell(user.pk, {"type": "session.ended", "session": digest(request.session.session_key)})


def changed(instance: User, update_fields: frozenset[str] | None = None, **_: Any) -> None:
    """Signal: a person was saved or deleted; his sockets look again unless neither password nor rights were touched."""
    if update_fields is None or not update_fields.isdisjoint({"password", "is_active"}):
        pk = instance.pk
        transaction.on_commit(lambda: _tell(pk, {"type": "session.check"}))


def _verified(person: User, known: str) -> bool:
    hashes = (person.get_session_auth_hash(), *person.get_session_auth_fallback_hash())
    return any(constant_time_compare(known, candidate) for candidate in hashes)


def _tell(person: int, notice: dict[str, Any]) -> None:
    layer = get_channel_layer()
    assert layer is not None, "CHANNEL_LAYERS has no default"
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        pass
    else:
        return  # On the loop nobody may save; and who does it nevertheless is found by the regular look.
    try:
        async_to_sync(layer.group_send)(group_of(person), notice)
    except Exception:
        logger.exception("The sockets of person %s could not be told; they look again within seconds.", person)
