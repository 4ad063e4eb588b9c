"""Whatever people and faults do, each message of each branch is covered once, and no prompt is too long."""

import contextlib
import random

import pytest
from asgiref.sync import async_to_sync

from chat import memory, runtime
from chat.inference.request import Preempted
from chat.memory import Keeper, MessageTooLong, check_fits, prompt_for
from chat.memory.branch import is_shown
from chat.memory.control import budget_of
from chat.models import Conversation, Message, RefusedPost
from chat.services import remembering
from chat.tests.memory.fakes import converse, fake

pytestmark = pytest.mark.django_db(transaction=True)
ANSWERS = (
    RuntimeError("engine"), "", "word " * 300, "Zelda is 99.", Preempted("later"), "The user has a dog called Rex.",
)  # fmt: skip


class Talk:
    """A conversation, and everything that may happen in it by chance."""

    def __init__(self, owner, seed, monkeypatch):
        self.chance = random.Random(seed)
        self.model = fake(RuntimeError("no"), context_tokens=self.chance.choice((384, 512, 1024)))
        self.keeper = Keeper(patience=0.05, first_pause=0.001)
        monkeypatch.setattr(runtime, "chat_model", lambda: self.model)
        monkeypatch.setattr(memory, "keeper", self.keeper)
        self.owner = owner
        self.here = Conversation.make(owner)
        self.place = (self.here.pk, owner.pk)

    def happen(self):
        """One thing, as likely as it is in life: most often somebody talks."""
        rare = [self.branch, self.pin, self.pin, self.unpin, self.forget, self.forget, self.edit, self.restore]
        with contextlib.suppress(RefusedPost):
            self.chance.choice([*[self.talk] * 6, *rare, self.compact, self.show])()
        self.here.refresh_from_db()

    def talk(self, after=None):
        after = after or self.here.head
        self.model.script[:] = [self.chance.choice(ANSWERS)]
        texts = [self.text(), self.chance.choice(("", self.text()))]
        try:
            async_to_sync(check_fits)(self.here, after.pk if after else None, texts[0], self.model)
        except MessageTooLong:
            return
        leaf = converse(self.owner, *texts, after=after, conversation=self.here)
        if not texts[1]:
            Message.objects.filter(pk=leaf.pk).update(status="failed")
        Conversation.objects.filter(pk=self.here.pk).update(head=leaf)
        async_to_sync(self.keeper.after_reply)(self.here.pk, leaf.pk, self.model)

    def text(self):
        size = self.chance.choice((3, 10, 20, 40, 150))
        return "I have a dog. " + " ".join(
            self.chance.choice(["Rex", "is", "42", "and", "lives", "in", "Paris"]) for _ in range(size)
        )

    def branch(self):
        if replies := list(self.here.messages.filter(role="assistant")):
            self.talk(self.chance.choice(replies))

    def show(self):
        self.here.show(self.any_message().pk)

    def pin(self):
        remembering.pin(*self.place, message=self.any_message().pk, pinned=True)

    def unpin(self):
        remembering.pin(*self.place, message=self.any_message().pk, pinned=False)

    def forget(self):
        answers = self.chance.random() < 0.5
        remembering.forget(*self.place, message=self.any_message().pk, with_answers=answers)

    def edit(self):
        if used := remembering.look(*self.place).summary:
            remembering.edit(*self.place, summary=used.pk, text=self.text())

    def restore(self):
        if versions := remembering.look(*self.place).versions:
            chosen = self.chance.choice(versions)
            remembering.restore(*self.place, summary=chosen.pk)
            assert remembering.look(*self.place).summary == chosen

    def compact(self):
        if self.here.head_id:
            async_to_sync(self.keeper.compact)(self.here.pk, self.here.head_id, self.model)

    def any_message(self):
        return self.chance.choice(list(self.here.messages.all()) or [Message(pk=0)])

    def is_sound(self):
        """Look at the next prompt of the branch that is shown."""
        path = self.here.path()
        question = self.here.messages.create(parent=self.here.head, role="user", status="complete", text="And now?")
        reply = self.here.messages.create(parent=question, role="assistant", status="queued")
        prompt = async_to_sync(prompt_for)(reply, self.model)
        rows = self.here.messages.in_bulk(path)
        told = [pk for part in prompt.parts if part.kind != "recalled" for pk in part.messages]
        assert len(told) == len(set(told))
        assert {pk for pk in path if is_shown(rows[pk])} <= set(told) <= {*path, question.pk}
        assert prompt.num_tokens == self.model.count(prompt.messages) <= budget_of(self.model).prompt
        assert prompt.num_tokens == sum(part.num_tokens for part in prompt.parts)
        question.delete()
        return True


@pytest.mark.parametrize("seed", range(6))
def test_each_message_is_covered_once_whatever_happens(alice, seed, monkeypatch):
    talk = Talk(alice, seed, monkeypatch)
    for _ in range(30):
        talk.happen()
        assert talk.is_sound()
