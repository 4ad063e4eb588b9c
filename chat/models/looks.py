"""Who opened another person's conversation, and why."""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q

from chat.models.conversations import Conversation


class Look(models.Model):
    """A record that somebody opened another person's conversation, and why; its owner sees it."""

    conversation = models.ForeignKey(Conversation, on_delete=models.CASCADE, related_name="looks")
    reader = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="looks")
    reason = models.CharField(max_length=300)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        """Newest first."""

        ordering = ("-id",)
        constraints: ClassVar = [models.CheckConstraint(name="look_has_reason", condition=~Q(reason=""))]

    def __str__(self) -> str:
        """Who and when."""
        return f"{self.reader} at {self.at:%Y-%m-%d %H:%M}"
