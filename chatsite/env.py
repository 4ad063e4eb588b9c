"""Typed readers of the environment that say at once what is wrong with a value."""

import os
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

_TRUE = frozenset({"1", "true", "yes", "on"})
_FALSE = frozenset({"0", "false", "no", "off"})


def text(name: str, default: str = "") -> str:
    """The variable as it stands, or the default where it is missing or empty."""
    return os.environ.get(name) or default


def flag(name: str, *, default: bool) -> bool:
    """A yes or no. Raises ImproperlyConfigured for anything but 1/0, true/false, yes/no, on/off."""
    value = os.environ.get(name, "").strip().lower()
    if not value:
        return default
    if value in _TRUE:
        return True
    if value in _FALSE:
        return False
    raise ImproperlyConfigured(f"{name}={value!r} is neither yes nor no: write 1 or 0.")


def integer(name: str, default: int, *, least: int, most: int) -> int:
    """A whole number from least to most, both included. Raises ImproperlyConfigured otherwise."""
    value = os.environ.get(name, "").strip()
    if not value:
        return default
    try:
        number = int(value)
    except ValueError:
        raise ImproperlyConfigured(f"{name}={value!r} is no whole number.") from None
    if not least <= number <= most:
        raise ImproperlyConfigured(f"{name}={number} is out of range: give {least} to {most}.")
    return number


def items(name: str, default: tuple[str, ...] = ()) -> list[str]:
    """A comma-separated list, its items stripped, empty ones left out."""
    value = os.environ.get(name, "")
    return [item.strip() for item in value.split(",") if item.strip()] or list(default)


def path(name: str, default: Path) -> Path:
    """An absolute path; a relative one is taken from where the program was started."""
    value = os.environ.get(name, "")
    return Path(value).expanduser().resolve() if value else default


def secret(name: str, keep_in: Path) -> str:
    """The variable, or a key made once and kept in a file that only this user can read."""
    from django.core.management.utils import get_random_secret_key

    if value := os.environ.get(name):
        return value
    if not keep_in.exists():
        keep_in.parent.mkdir(parents=True, exist_ok=True)
        try:
            handle = os.open(keep_in, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            pass
        else:
            with os.fdopen(handle, "w") as file:
                file.write(get_random_secret_key())
    return keep_in.read_text().strip()
