"""The door for programs: whose key is this, and may it be tried from there."""

import logging

from django.db import DatabaseError
from django.views.decorators.debug import sensitive_variables

from accounts.failures import Failures
from accounts.models import ApiKey, User, hash_of

__all__ = ["ApiKey", "TooManyFailures", "WrongKey", "authenticate", "failures"]

logger = logging.getLogger(__name__)
failures = Failures()  # Of this process, which is the only one.


class WrongKey(Exception):
    """No key that opens the door; why is not told, so that nobody learns which keys exist."""

    def __init__(self) -> None:
        """One text for all of them."""
        super().__init__("This API key is not valid: it is unknown, expired or revoked.")


class TooManyFailures(Exception):
    """Too many wrong keys came from this address; `retry_after` is in whole seconds, at least 1."""

    def __init__(self, retry_after: int) -> None:
        """Keep the seconds beside the text."""
        super().__init__(f"Too many requests with a wrong API key came from your address. Wait {retry_after} seconds.")
        self.retry_after = retry_after


@sensitive_variables("key")
def authenticate(key: str, address: str | None) -> User:
    """The active person whose key this is; `address` is what accounts.guessing.client_address gives.

    Uses the database. Raises WrongKey, or TooManyFailures after five wrong keys from there in a quarter of an hour. No
    key at all is WrongKey too, but is not counted: it is no guess.
    """
    if not key:
        raise WrongKey
    guest = hash_of(key)
    if seconds := failures.wait(address, guest):
        raise TooManyFailures(seconds)
    row = ApiKey.objects.with_hash(guest).select_related("owner").first()
    if row is None:
        if seconds := failures.add(address, guest):
            raise TooManyFailures(seconds)
        raise WrongKey
    failures.welcome(address, guest)
    _note_use(row)
    return row.owner


def _note_use(row: ApiKey) -> None:
    try:
        row.note_use()
    except DatabaseError:  # Locked or full: no reason to refuse what needs no writing.
        logger.warning("When API key %s was used last could not be saved.", row.pk)
