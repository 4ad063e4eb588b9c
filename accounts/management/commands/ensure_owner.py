"""Makes sure that somebody owns the site, or can become its owner; safe to call at every start."""

from typing import Any

from django.conf import settings
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction

from accounts.links import link_path, site_address
from accounts.models import Invitation, User
from chatsite.locking import hold


class Command(BaseCommand):
    help = (
        "If nobody owns the site yet: makes the owner from CHAT_OWNER_USERNAME and CHAT_OWNER_PASSWORD, "
        "or prints a one-time link that makes one."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--address", help="the site's address, as in http://127.0.0.1:8000")

    @transaction.atomic
    def handle(self, *_: Any, address: str | None, **__: Any) -> None:
        hold("owner")
        if User.objects.filter(is_superuser=True, is_active=True).exists():
            return
        if settings.OWNER_USERNAME or settings.OWNER_PASSWORD:
            self._make_owner()
        else:
            self._print_link(address or site_address())

    def _make_owner(self) -> None:
        if not (settings.OWNER_USERNAME and settings.OWNER_PASSWORD):
            raise CommandError("Set both CHAT_OWNER_USERNAME and CHAT_OWNER_PASSWORD, or neither.")
        owner = User(username=settings.OWNER_USERNAME, is_staff=True, is_superuser=True)
        try:
            owner.clean()
            owner.full_clean(exclude=["password"])
        except ValidationError as error:
            raise CommandError("CHAT_OWNER_USERNAME cannot be used: " + " ".join(error.messages)) from None
        try:
            validate_password(settings.OWNER_PASSWORD, owner)
        except ValidationError as error:
            raise CommandError("CHAT_OWNER_PASSWORD cannot be used: " + " ".join(error.messages)) from None
        owner.set_password(settings.OWNER_PASSWORD)
        owner.save()
        Invitation.objects.usable().filter(role=Invitation.Role.OWNER).delete()
        self.stdout.write(f"Made the owner's account: {owner.username}.")

    def _print_link(self, address: str) -> None:
        Invitation.objects.filter(role=Invitation.Role.OWNER, accepted_at=None).delete()
        invitation, token = Invitation.issue(Invitation.Role.OWNER, note="The owner's first link")
        self.stdout.write(
            "\nNobody owns this site yet. Open this link to make the owner's account.\n"
            f"It works once, for {settings.INVITATION_DAYS} days, and a new start replaces it:\n\n"
            f"    {address.rstrip('/')}{link_path(invitation, token)}\n"
        )
