"""What is kept for the model's memory: summaries, vectors for recall, and facts about people."""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q

from chat.models.conversations import MODEL_NAME, Conversation, Message


class Summary(models.Model):
    """What stands in the prompt for the messages up to `covers_until`. Never rewritten: a new one grows from it."""

    class Author(models.TextChoices):
        """Who wrote it."""

        MODEL = "model", "The model"
        EXTRACT = "extract", "Key sentences, taken as they stand"
        PERSON = "person", "A person"

    conversation = models.ForeignKey(Conversation, on_delete=models.CASCADE, related_name="summaries")
    covers_until = models.ForeignKey(Message, on_delete=models.CASCADE, related_name="+")
    grown_from = models.ForeignKey("self", null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    text = models.TextField()
    author = models.CharField(max_length=16, choices=Author)
    model = models.CharField(max_length=MODEL_NAME, blank=True)
    # Not used any more, because a person went back to an earlier one; it can be restored.
    retired = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        """In the order in which they were written."""

        ordering = ("id",)
        verbose_name_plural = "summaries"
        constraints: ClassVar = [
            models.CheckConstraint(name="summary_text_not_empty", condition=~Q(text="")),
            models.CheckConstraint(name="summary_author", condition=Q(author__in=["model", "extract", "person"])),
        ]

    def __str__(self) -> str:
        """Which part it covers; never the content."""
        return f"Summary up to message {self.covers_until_id}"


class Vector(models.Model):
    """Where a message lies in an embedding model's space, so that it is found by what it means."""

    message = models.OneToOneField(Message, primary_key=True, on_delete=models.CASCADE, related_name="vector")
    # The embedding model's; vectors of another one cannot be compared.
    fingerprint = models.CharField(max_length=64)
    # Normalised, little-endian float16.
    values = models.BinaryField()

    def __str__(self) -> str:
        """Whose it is."""
        return f"Vector of message {self.message_id}"


class Fact(models.Model):
    """Something that holds for a person in all of his conversations, as he said or corrected it."""

    class Kind(models.TextChoices):
        """What it is about."""

        NAME = "name", "Name"
        PREFERENCE = "preference", "Preference"
        DECISION = "decision", "Decision"
        OTHER = "other", "Other"

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="facts")
    kind = models.CharField(max_length=16, choices=Kind, default=Kind.OTHER)
    text = models.CharField(max_length=300)
    # None when the person wrote it himself.
    source = models.ForeignKey(Message, null=True, blank=True, on_delete=models.CASCADE, related_name="facts")
    corrected = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        """In the order in which they were learnt."""

        ordering = ("id",)
        constraints: ClassVar = [
            models.CheckConstraint(name="fact_text_not_empty", condition=~Q(text="")),
            models.CheckConstraint(name="fact_kind", condition=Q(kind__in=["name", "preference", "decision", "other"])),
        ]

    def __str__(self) -> str:
        """Its number; never the content."""
        return f"Fact {self.pk}"
