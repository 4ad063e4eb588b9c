"""A scripted chat model, and conversations in the database."""

import asyncio

from asgiref.sync import sync_to_async
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from chat import runtime
from chat.memory.branch import read_past
from chat.models import Conversation, Message
from chat.services import writing
from chat.tests.memory import counting

in_thread = sync_to_async


class FakeChat(BaseChatModel):
    """Answers by its script: a text, an exception to raise, or a coroutine function that returns either.

    The last entry is repeated. Keeps what it was asked.
    """

    script: list
    context_tokens: int = 640
    fingerprint: str = "fake"
    model_name: str = "Fake"
    asked: list
    prewarmed: list
    forgotten: list
    finish_reason: str = "stop"

    @property
    def _llm_type(self):
        return "fake"

    def count(self, messages):
        return counting.count(messages)

    def forget(self, *conversations):
        self.forgotten.extend(conversations)

    async def prewarm(self, messages, **kwargs):
        self.prewarmed.append(messages)
        return True

    def _generate(self, messages, stop=None, run_manager=None, **kwargs):
        raise NotImplementedError

    async def _agenerate(self, messages, stop=None, run_manager=None, **kwargs):
        self.asked.append((messages, kwargs))
        answer = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        if asyncio.iscoroutinefunction(answer):
            answer = await answer()
        if isinstance(answer, Exception):
            raise answer
        metadata = {"finish_reason": self.finish_reason}
        return ChatResult(generations=[ChatGeneration(message=AIMessage(answer, response_metadata=metadata))])


def fake(*script, **fields):
    """A FakeChat with its own script and record."""
    return FakeChat(script=list(script) or ["Nothing to note."], asked=[], prewarmed=[], forgotten=[], **fields)


def loaded(monkeypatch, context_tokens):
    """A fake as the site's model, for which nothing is read ahead."""
    model = fake(context_tokens=context_tokens)
    monkeypatch.setattr(runtime, "chat_model", lambda: model)
    monkeypatch.setattr(writing, "prewarm", lambda *_: None)
    return model


def converse(owner, *texts, after=None, conversation=None):
    """Append turns of person and assistant after `after`, in a new conversation unless one is given; the last row."""
    conversation = conversation or Conversation.objects.create(owner=owner, system_prompt="Be kind.")
    for at, text in enumerate(texts):
        after = conversation.messages.create(
            parent=after, role=(Message.Role.USER, Message.Role.ASSISTANT)[at % 2], status="complete", text=text
        )
    return after


def ask(question_after, text="And now?"):
    """A person's message after a reply, and the empty reply to it."""
    conversation = question_after.conversation
    message = conversation.messages.create(parent=question_after, role="user", status="complete", text=text)
    return conversation.messages.create(parent=message, role="assistant", status="queued")


def long_talk(owner, num_turns=14, **where):
    """Turns of some 35 tokens each, with a fact in the first one."""
    texts = ["My dog is called Rex and he is 5 years old.", "What a lovely dog!"]
    for number in range(num_turns - 1):
        story = "x" * (number + 1)
        texts += [f"Tell me story {story} about a lighthouse, please.", "Once upon a time there was a light. " * 2]
    return converse(owner, *texts, **where)


def covered_once(leaf):
    """Assert that each message up to the leaf is covered by the summary or stands verbatim; the number covered."""
    branch = read_past(leaf.conversation_id, leaf.pk, "fake")
    notes = branch.layout.notes.messages if branch.layout.notes else ()
    verbatim = tuple(int(turn.id) for turn in branch.layout.turns)
    assert [*notes, *verbatim] == branch.path
    assert not verbatim or branch.layout.turns[0].type == "human"
    return len(notes)
