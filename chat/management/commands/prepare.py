"""Brings everything that serving needs up to date, in one process."""

from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError


class Command(BaseCommand):
    help = "Migrate the database, fetch the default models, collect static files, see that there is an owner."
    requires_system_checks = ()

    def handle(self, *args: Any, **options: Any) -> None:
        call_command("migrate", interactive=False, verbosity=0)
        for command in ("get_model", "get_embedding_model"):
            try:
                call_command(command)
            except CommandError as error:
                # The site is of use without a model: history can be read, and /readyz tells what is wrong.
                self.stderr.write(self.style.WARNING(str(error)))
        call_command("collectstatic", interactive=False, verbosity=0)
        call_command("ensure_owner")
