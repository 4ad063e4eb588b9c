"""Prints a new API key for a person, for scripts that set things up."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts.forms import KeyForm
from accounts.models import ApiKey, User

_MOST_DAYS = 3650


class Command(BaseCommand):
    help = "Makes an API key and prints it as the last word. It is not kept and cannot be shown again."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username", help="whose programs will use it")
        parser.add_argument("--name", required=True, help="what it is for; shown in lists of keys")
        parser.add_argument("--days", type=int, help=f"how long it works, 1 to {_MOST_DAYS}; without it, until revoked")

    def handle(self, *_: Any, username: str, name: str, days: int | None, **__: Any) -> None:
        if days is not None and not 1 <= days <= _MOST_DAYS:
            raise CommandError(f"--days must be 1 to {_MOST_DAYS}.")
        owner = User.objects.filter(username=username).first()
        if owner is None:
            raise CommandError(f"There is no person with the username {username}.")
        if not owner.is_active:
            raise CommandError(f"The account of {username} is deactivated, so no key of it would work.")
        form = KeyForm(owner, {"name": name})
        if not form.is_valid():
            raise CommandError(" ".join(str(text) for texts in form.errors.values() for text in texts))
        row, key = ApiKey.issue(owner, form.cleaned_data["name"], days)
        until = f"until {row.expires_at:%Y-%m-%d %H:%M} UTC" if row.expires_at else "until it is revoked"
        self.stderr.write(f"Made the key {row.name} of {username}, good {until}. It is shown now and never again:")
        self.stdout.write(key)
