"""Prints a one-time link that makes an account."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from accounts.links import link_path, site_address
from accounts.models import Invitation


class Command(BaseCommand):
    help = "Prints a link by which one person can make an account, once."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--administrator", action="store_true", help="the person will look after others")
        parser.add_argument("--note", default="", help="whom it is for; shown in the panel")
        parser.add_argument("--address", help="the site's address, as in http://127.0.0.1:8000")

    def handle(self, *_: Any, administrator: bool, note: str, address: str | None, **__: Any) -> None:
        role = Invitation.Role.ADMINISTRATOR if administrator else Invitation.Role.MEMBER
        invitation, token = Invitation.issue(role, note=note[:200])
        self.stdout.write((address or site_address()).rstrip("/") + link_path(invitation, token))
