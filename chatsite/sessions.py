"""Sessions in the database, asked for by keys that could be one alone: a cookie may hold anything, NUL included."""

from django.contrib.sessions.backends import db


class SessionStore(db.SessionStore):
    """Django's, which would ask the database for whatever a cookie holds; PostgreSQL refuses some of that."""

    def _validate_session_key(self, key: str | None) -> bool:
        return bool(key and len(key) >= 8 and key.isascii() and key.isalnum())
