"""Typed readers of the environment that say at once what is wrong with a value."""

import contextlib
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


def choice(name: str, default: str, *, among: tuple[str, ...]) -> str:
    """One of these words. Raises ImproperlyConfigured for another."""
    value = os.environ.get(name, "").strip().lower() or default
    if value not in among:
        raise ImproperlyConfigured(f"{name}={value!r} does not exist: write {' or '.join(among)}.")
    return value


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


def number(name: str, default: float, *, least: float, most: float) -> float:
    """A number from least to most, both included. Raises ImproperlyConfigured otherwise."""
    value = os.environ.get(name, "").strip()
    if not value:
        return default
    try:
        parsed = float(value)
    except ValueError:
        raise ImproperlyConfigured(f"{name}={value!r} is no number.") from None
    if not least <= parsed <= most:  # NaN fails this as well
        raise ImproperlyConfigured(f"{name}={value} is out of range: give {least:g} to {most:g}.")
    return parsed


def items(name: str, default: tuple[str, ...] = ()) -> list[str]:
    """A comma-separated list, its items stripped, empty ones left out."""
    value = os.environ.get(name, "")
    return [item.strip() for item in value.split(",") if item.strip()] or list(default)


def path(name: str, default: Path, *, words: tuple[str, ...] = ()) -> Path:
    """An absolute path; a relative one is taken from where the program was started. `words` stay as they are."""
    value = os.environ.get(name, "")
    if value in words:
        return Path(value)
    return Path(value).expanduser().resolve() if value else default


def secret(name: str, keep_in: Path) -> str:
    """The variable, or a key made once and kept in a file that only this user can read.

    Raises ImproperlyConfigured when the file cannot be made or read, or is empty.
    """
    if value := os.environ.get(name):
        return value
    try:
        _make_key(keep_in)
        key = keep_in.read_text().strip()
    except OSError as error:
        raise ImproperlyConfigured(f"Cannot keep a key in {keep_in}: {error.strerror}. Is DATA_DIR right?") from error
    if not key:
        raise ImproperlyConfigured(f"{keep_in} is empty. Delete it and start again.")
    return key


def _make_key(file: Path) -> None:
    from django.core.management.utils import get_random_secret_key

    file.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(FileExistsError):
        handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w") as new:
            new.write(get_random_secret_key())
