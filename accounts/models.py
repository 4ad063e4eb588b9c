"""People and the one-time links by which they get an account."""

import hashlib
import secrets
from datetime import timedelta
from typing import Self

from django.conf import settings
from django.contrib.auth.models import AbstractUser
from django.db import models, transaction
from django.db.models import Q
from django.utils import timezone


class User(AbstractUser):
    """A person with an account."""

    class Meta:
        """Called by what they are."""

        verbose_name = "person"
        verbose_name_plural = "people"


class InvitationQuerySet(models.QuerySet["Invitation"]):
    """Finds invitations by what their link carries."""

    def usable(self) -> Self:
        """Those neither used nor out of date, whose sender could still send them."""
        sender = Q(created_by=None) | Q(created_by__is_active=True, created_by__is_staff=True)
        return self.filter(sender, accepted_at=None, expires_at__gt=timezone.now())

    def with_token(self, token: str) -> Self:
        """The usable one that belongs to this token, if any."""
        return self.usable().filter(token_hash=_hash(token))


class Invitation(models.Model):
    """A link that lets one person make an account, once. Only the hash of its token is kept."""

    class Role(models.TextChoices):
        """What the new person may do."""

        OWNER = "owner", "Owner"
        ADMINISTRATOR = "administrator", "Administrator"
        MEMBER = "member", "Member"

    token_hash = models.CharField(max_length=64, unique=True, editable=False)
    role = models.CharField(max_length=16, choices=Role, default=Role.MEMBER)
    note = models.CharField(max_length=200, blank=True, help_text="Whom it is for.")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, editable=False, on_delete=models.CASCADE, related_name="sent"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(editable=False)
    accepted_at = models.DateTimeField(null=True, editable=False)
    accepted_by = models.OneToOneField(
        settings.AUTH_USER_MODEL, null=True, editable=False, on_delete=models.SET_NULL, related_name="invitation"
    )

    objects = InvitationQuerySet.as_manager()

    class Meta:
        """Newest first."""

        ordering = ("-id",)

    def __str__(self) -> str:
        """Whom it is for, or its number."""
        return self.note or f"Invitation {self.pk}"

    @classmethod
    def issue(cls, role: str = Role.MEMBER, *, note: str = "") -> "tuple[Invitation, str]":
        """Make an invitation; returns it with its token, which is not kept and cannot be shown again."""
        invitation = cls(role=role, note=note)
        token = invitation.seal()
        invitation.save()
        return invitation, token

    def seal(self) -> str:
        """Set a new token and the time it lasts, without saving; returns the token."""
        token = secrets.token_urlsafe(24)
        self.token_hash = _hash(token)
        self.expires_at = timezone.now() + timedelta(days=settings.INVITATION_DAYS)
        return token

    @property
    def is_expired(self) -> bool:
        """True once its days are over."""
        return self.expires_at <= timezone.now()

    @transaction.atomic
    def accept(self, person: User) -> None:
        """Save the new person with the rights of this role and use the link up.

        Raises AlreadyAccepted when somebody else was quicker.
        """
        if not Invitation.objects.usable().filter(pk=self.pk).update(accepted_at=timezone.now()):
            raise AlreadyAccepted
        person.is_staff = self.role != self.Role.MEMBER
        person.is_superuser = self.role == self.Role.OWNER
        person.save()
        if self.role == self.Role.ADMINISTRATOR:
            from accounts.groups import administrators

            person.groups.add(administrators())
        Invitation.objects.filter(pk=self.pk).update(accepted_by=person)


class AlreadyAccepted(Exception):
    """The link has been used or has run out in the meantime."""


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
