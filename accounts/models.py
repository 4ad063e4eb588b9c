"""People, the one-time links by which they get an account, and the keys by which their programs come in."""

import hashlib
import secrets
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, ClassVar, Self

from django.conf import settings
from django.contrib.auth.models import AbstractUser
from django.db import models, transaction
from django.db.models import Q
from django.utils import timezone

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser


def hash_of(token: str) -> str:
    """What is kept of a random token; of text that never was one, too, whatever it holds."""
    return hashlib.sha256(token.encode(errors="replace")).hexdigest()


class User(AbstractUser):
    """A person with an account."""

    # Whether facts about him are kept across conversations; off until he switches it on.
    remembers_facts = models.BooleanField(default=False)

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
        return self.usable().filter(token_hash=hash_of(token))


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
        self.token_hash = hash_of(token)
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
        Invitation.objects.select_for_update().filter(pk=self.pk).first()  # Before another can look whether it is used.
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


class ApiKeyQuerySet(models.QuerySet["ApiKey"]):
    """Finds keys by whose they are and by what a program sends."""

    def visible_to(self, user: "User | AnonymousUser") -> Self:
        """Only this person's own; nobody else learns whether one exists."""
        return self.filter(owner_id=user.pk) if user.is_authenticated and user.is_active else self.none()

    def usable(self) -> Self:
        """Those that open the door now: neither revoked nor out of date, of people whose account is active."""
        in_time = Q(expires_at=None) | Q(expires_at__gt=timezone.now())
        return self.filter(in_time, revoked_at=None, owner__is_active=True)

    def with_hash(self, key_hash: str) -> Self:
        """The usable one whose key has this hash, if any."""
        return self.usable().filter(key_hash=key_hash)


class ApiKey(models.Model):
    """Lets programs act for a person. The key itself is not kept, only its hash and as much as tells it from others.

    The hash is a quick one on purpose. Slow hashes protect what people think up; nobody tries 2^256 random keys, and
    each request of a program would pay for it.
    """

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="api_keys")
    name = models.CharField(max_length=100, help_text="What it is for, such as the program that will use it.")
    key_hash = models.CharField(max_length=64, unique=True, editable=False)
    prefix = models.CharField(max_length=12, editable=False)
    last_four = models.CharField(max_length=4, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True, blank=True, editable=False)
    last_used_at = models.DateTimeField(null=True, editable=False)
    revoked_at = models.DateTimeField(null=True, editable=False)

    objects = ApiKeyQuerySet.as_manager()

    class Meta:
        """Newest first. Nobody changes or deletes one: it is revoked, and what it was stays on record."""

        verbose_name = "API key"
        ordering = ("-id",)
        default_permissions = ("view",)
        permissions: ClassVar = [("revoke_any_api_key", "Can revoke anybody's API key")]

    def __str__(self) -> str:
        """Its name."""
        return self.name

    @classmethod
    def issue(
        cls, owner: User, name: str, days: int | None = None, *, until: datetime | None = None
    ) -> "tuple[ApiKey, str]":
        """Make a key that lasts so many days, or until then, or for ever.

        Returns the row and the key, which is not kept and cannot be shown again.
        """
        # Programs that look for secrets in code and logs know such a key by its beginning.
        key = f"chat_{secrets.token_urlsafe(32)}"
        expires_at = until if days is None else timezone.now() + timedelta(days=days)
        row = cls(owner=owner, name=name, key_hash=hash_of(key), prefix=key[:9], last_four=key[-4:])
        row.expires_at = expires_at
        row.save()
        return row, key

    @property
    def shown(self) -> str:
        """As much of the key as people need to tell it from others."""
        return f"{self.prefix}…{self.last_four}"

    @property
    def state(self) -> str:
        """Whether it opens the door, and if not, why."""
        if self.revoked_at:
            return "Revoked"
        if self.expires_at and self.expires_at <= timezone.now():
            return "Expired"
        return "Active" if self.owner.is_active else "Account deactivated"

    def revoke(self) -> bool:
        """Refuse it from now on; False when that had been done before."""
        return bool(ApiKey.objects.filter(pk=self.pk, revoked_at=None).update(revoked_at=timezone.now()))

    def note_use(self) -> None:
        """Keep when it was used, to the minute: a busy program must not cost a write a request."""
        now = timezone.now()
        if self.last_used_at is None or abs(now - self.last_used_at) >= timedelta(minutes=1):
            # Of several requests at once, one finds the row as it was read.
            ApiKey.objects.filter(pk=self.pk, last_used_at=self.last_used_at).update(last_used_at=now)
