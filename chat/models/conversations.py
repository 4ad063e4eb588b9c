"""Conversations as trees of messages."""

import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

from django.conf import settings
from django.db import models, transaction
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser

    from accounts.models import User

MODEL_NAME = 200  # characters of a model's name that are kept


class RefusedPost(Exception):
    """A message that cannot be taken; `code` is for programs, the text is for people."""

    def __init__(self, code: str, text: str) -> None:
        """Keep the code beside the text."""
        super().__init__(text)
        self.code = code


@dataclass(frozen=True)
class Posted:
    """A person's message, the reply that is to be written, and what happened on the way."""

    message: "Message"
    reply: "Message"
    created: bool  # False when the same client_id had been posted before
    branched: bool  # True when the conversation had already gone on from the parent


class ConversationQuerySet(models.QuerySet["Conversation"]):
    """Reaches conversations through the person who asks."""

    def visible_to(self, user: "User | AnonymousUser") -> Self:
        """Only this person's own; nobody else learns whether one exists."""
        return self.filter(owner_id=user.pk) if user.is_authenticated and user.is_active else self.none()


class Conversation(models.Model):
    """A tree of messages; `head` is the leaf that is shown."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="conversations")
    title = models.CharField(max_length=200, blank=True)
    # Frozen when the conversation begins, so that the prompt's beginning never changes under the cache.
    system_prompt = models.TextField(blank=True)
    # Ids of the facts about its owner that it began with: later ones would change the prompt's beginning.
    facts = models.JSONField(default=list, blank=True, editable=False)
    head = models.ForeignKey("Message", null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(default=timezone.now)

    objects = ConversationQuerySet.as_manager()

    class Meta:
        """The one that was used last comes first."""

        ordering = ("-updated_at", "-id")
        indexes: ClassVar = [models.Index(fields=["owner", "-updated_at"])]
        permissions: ClassVar = [("read_any_conversation", "Can read other people's conversations")]

    def __str__(self) -> str:
        """Its title as people see it."""
        return self.title or "New chat"

    def get_absolute_url(self) -> str:
        """The conversation's page."""
        return reverse("conversation", args=[self.pk])

    @classmethod
    def begin(cls, owner: "User") -> "Conversation":
        """A conversation without a message yet: the person's unused one if there is one, else a new one."""
        unused = cls.objects.filter(owner=owner, messages=None, title="").first()
        return unused or cls.make(owner)

    @classmethod
    def make(cls, owner: "User", title: str = "") -> "Conversation":
        """A new conversation."""
        return cls.objects.create(owner=owner, title=title, system_prompt=settings.CHAT_SYSTEM_PROMPT)

    def lock(self) -> None:
        """Read it again and keep everybody else from changing what is in it until the transaction ends.

        Whatever reads of a conversation before it writes begins with this. SQLite's transactions exclude each other
        anyway. Raises RefusedPost when it has been deleted.
        """
        try:
            self.refresh_from_db(from_queryset=Conversation.locked())
        except Conversation.DoesNotExist:
            raise RefusedPost("conversation_gone", "This conversation has been deleted.") from None

    @classmethod
    def locked(cls) -> ConversationQuerySet:
        """Conversations to be locked as they are read; rows that only refer to them need not wait."""
        return cls.objects.select_for_update(no_key=True)

    @transaction.atomic
    def delete(self, *args: Any, **kwargs: Any) -> tuple[int, dict[str, int]]:
        """With everything in it, once nobody is writing there."""
        Conversation.locked().filter(pk=self.pk).first()
        return super().delete(*args, **kwargs)

    @transaction.atomic
    def post(self, *, parent: int | None, text: str, client_id: uuid.UUID) -> Posted:
        """Store a person's message after `parent` and an empty reply to it, in one transaction.

        The text must be clean (chat.typed). A client_id that has been seen returns the same rows. Raises RefusedPost
        when the parent is not a finished reply of this conversation.
        """
        self.lock()
        if known := self.messages.filter(client_id=client_id, role=Message.Role.USER).first():
            return Posted(known, known.children.earliest("id"), created=False, branched=False)
        before = self._finished_reply(parent)
        branched = self.messages.filter(parent=before).exists()
        message = self.messages.create(
            parent=before, role=Message.Role.USER, status=Message.Status.COMPLETE, text=text, client_id=client_id
        )
        if not self.title:
            self.title = title_from(text)
            self.save(update_fields=["title"])
        return Posted(message, self._await_reply(message), created=True, branched=branched)

    @transaction.atomic
    def retry(self, reply: "Message", *, client_id: uuid.UUID) -> Posted:
        """Another reply beside this one, which stays. A client_id that has been seen returns the same rows."""
        self.lock()
        known = self.messages.filter(client_id=client_id, role=Message.Role.ASSISTANT).first()
        question = self.messages.filter(children=known or reply).first()
        assert question is not None, "the database demands a parent of every reply"
        if known:
            return Posted(question, known, created=False, branched=False)
        if question.status == Message.Status.FORGOTTEN:
            raise RefusedPost("forgotten", "The message was forgotten, so there is nothing left to answer.")
        if question.children.filter(status__in=Message.UNFINISHED).exists():
            raise RefusedPost("reply_running", "A reply to this message is being written. Stop it or wait for it.")
        return Posted(question, self._await_reply(question, client_id), created=True, branched=True)

    @transaction.atomic
    def show(self, pk: int) -> int:
        """Make the newest branch through a message the one that is shown; returns its leaf, the new head.

        Raises RefusedPost when the message is not in this conversation.
        """
        self.lock()
        parents = dict(self.messages.order_by("id").values_list("id", "parent_id"))
        if pk not in parents:
            raise RefusedPost("unknown_message", "This message is not in this conversation. Load the page again.")
        through = {pk}
        for child, parent in parents.items():  # A parent is always older than its children.
            if parent in through:
                through.add(child)
        leaf = max(through)
        Conversation.objects.filter(pk=self.pk).update(head=leaf)
        self.head_id = leaf
        return leaf

    def branch(self, leaf: int | None = None) -> list["Message"]:
        """The messages from the first to the given leaf (default: the head), oldest first."""
        path = self.path(leaf)
        rows = self.messages.in_bulk(path)
        return [rows[pk] for pk in path]

    def path(self, leaf: int | None = None) -> list[int]:
        """The ids of the messages from the first to the given leaf (default: the head), oldest first."""
        leaf = leaf or self.head_id
        parents = dict(self.messages.values_list("id", "parent_id"))
        path = []
        while leaf is not None:
            path.append(leaf)
            leaf = parents[leaf]
        return path[::-1]

    def _finished_reply(self, pk: int | None) -> "Message | None":
        if pk is None:
            return None
        before = self.messages.filter(pk=pk, role=Message.Role.ASSISTANT).first()
        if before is None:
            raise RefusedPost("unknown_parent", "The message before this one is not in this conversation. Reload it.")
        if before.status in Message.UNFINISHED:
            raise RefusedPost("reply_running", "The reply before this message is still being written. Stop it or wait.")
        return before

    def _await_reply(self, message: "Message", client_id: uuid.UUID | None = None) -> "Message":
        reply = self.messages.create(
            parent=message, role=Message.Role.ASSISTANT, status=Message.Status.QUEUED, client_id=client_id
        )
        self.head = reply
        self.updated_at = timezone.now()
        self.save(update_fields=["head", "updated_at"])
        return reply


class Message(models.Model):
    """What a person or the model said; the only transcript there is."""

    class Role(models.TextChoices):
        """Who speaks."""

        USER = "user", "Person"
        ASSISTANT = "assistant", "Assistant"

    class Status(models.TextChoices):
        """How far a message has come."""

        QUEUED = "queued", "Waiting"
        STREAMING = "streaming", "Being written"
        COMPLETE = "complete", "Complete"
        STOPPED = "stopped", "Stopped"
        INTERRUPTED = "interrupted", "Interrupted"
        FAILED = "failed", "Failed"
        FORGOTTEN = "forgotten", "Forgotten"  # its place in the tree is left, and nothing of what it said

    UNFINISHED = (Status.QUEUED, Status.STREAMING)

    conversation = models.ForeignKey(Conversation, on_delete=models.CASCADE, related_name="messages")
    parent = models.ForeignKey("self", null=True, blank=True, on_delete=models.CASCADE, related_name="children")
    role = models.CharField(max_length=16, choices=Role)
    status = models.CharField(max_length=16, choices=Status)
    text = models.TextField(blank=True)
    reasoning = models.TextField(blank=True)
    # Why a reply failed, for people.
    error = models.TextField(blank=True)
    client_id = models.UUIDField(null=True, blank=True, editable=False)
    model = models.CharField(max_length=MODEL_NAME, blank=True)
    # What the engine measured: counts of tokens, times in milliseconds (docs/protocol.md).
    usage = models.JSONField(default=dict, blank=True)
    # The reply as it was sampled, little-endian int32, valid for the model of this fingerprint alone.
    token_ids = models.BinaryField(default=b"", blank=True, editable=False)
    fingerprint = models.CharField(max_length=64, blank=True, editable=False)
    # Always shown to the model verbatim, however old it is.
    pinned = models.BooleanField(default=False)
    # Of a reply: what the model was shown to write it, as counts and ids, never as text (docs/memory.md).
    sent = models.JSONField(default=dict, blank=True, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        """In the order in which they were written; ids, not clocks, say which that is."""

        ordering = ("id",)
        constraints: ClassVar = [
            models.CheckConstraint(name="message_role", condition=Q(role__in=["user", "assistant"])),
            models.CheckConstraint(
                name="message_status",
                condition=Q(
                    status__in=["queued", "streaming", "complete", "stopped", "interrupted", "failed", "forgotten"]
                ),
            ),
            models.CheckConstraint(
                name="message_from_person_is_complete",
                condition=~Q(role="user") | (Q(status="complete") & ~Q(text="")) | Q(status="forgotten"),
            ),
            models.CheckConstraint(
                name="forgotten_message_is_empty",
                condition=~Q(status="forgotten") | Q(text="", reasoning="", error="", pinned=False),
            ),
            models.CheckConstraint(name="reply_has_parent", condition=~Q(role="assistant") | Q(parent__isnull=False)),
            models.UniqueConstraint(fields=["conversation", "client_id"], name="message_client_id_once"),
            models.UniqueConstraint(
                fields=["parent"], condition=Q(status__in=["queued", "streaming"]), name="one_unfinished_reply"
            ),
        ]

    def __str__(self) -> str:
        """Role and number; never the content."""
        return f"{self.role} message {self.pk}"

    @property
    def is_unfinished(self) -> bool:
        """True while the reply waits or is being written."""
        return self.status in self.UNFINISHED

    def save_progress(self, text: str, reasoning: str, **fields: Any) -> bool:
        """Keep what has been written so far of a reply that goes on. Returns False if it has ended or is gone."""
        self.text, self.reasoning, self.status = text, reasoning, self.Status.STREAMING
        unfinished = Message.objects.filter(pk=self.pk, status__in=self.UNFINISHED)
        return bool(unfinished.update(text=text, reasoning=reasoning, status=self.status, **fields))

    def finish(self, status: str, **fields: Any) -> bool:
        """End a reply with its last text and figures. Returns False, and changes nothing, if it had ended before."""
        fields |= {"status": status, "finished_at": timezone.now()}
        changed = Message.objects.filter(pk=self.pk, status__in=self.UNFINISHED).update(**fields)
        if changed:
            for name, value in fields.items():
                setattr(self, name, value)
        return bool(changed)

    @classmethod
    def interrupt_unfinished(cls) -> int:
        """At start-up: whatever an earlier process left unfinished becomes interrupted, its text kept."""
        return cls.objects.filter(status__in=cls.UNFINISHED).update(
            status=cls.Status.INTERRUPTED, finished_at=timezone.now()
        )


def title_from(text: str) -> str:
    """The first words of a message, at most 60 characters, cut between words."""
    line = " ".join(text.split())
    if len(line) <= 60:
        return line
    return line[:60].rsplit(" ", 1)[0] + "…"
