"""The memory of this site and three others, driven turn by turn through the same talk."""

import asyncio
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from django.conf import settings
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage

from accounts.models import User
from chat.database import in_database
from chat.memory import summary
from chat.memory.budget import Budget
from chat.memory.checking.scripted import ScriptedChat
from chat.memory.checking.talks import Exchange
from chat.memory.keeper import Keeper, prompt_for
from chat.memory.prompt import Layout, Notes, Part, Prompt, build
from chat.models import Conversation, Message

_PORTION = 20  # turns


@dataclass(frozen=True)
class Shown:
    """A prompt: its messages, the new one last, and what it is made of where the system tells."""

    messages: list[BaseMessage]
    parts: tuple[Part, ...] = ()
    path: tuple[int, ...] = ()  # ids of the branch that it is for, the new message included

    @property
    def memory(self) -> list[BaseMessage]:
        """What stands between the system prompt and the new message."""
        return [message for message in self.messages[:-1] if not isinstance(message, SystemMessage)]


class System(Protocol):
    """A way to choose what the model is shown."""

    name: str

    async def say(self, exchange: Exchange, *, shown: bool = True) -> Shown | None:
        """A person's message, what is shown to answer it (None unless wanted), and the reply."""

    async def ask(self, question: str) -> Shown:
        """What would be shown to answer a question now; nothing of it stays."""


class Ours:
    """This site's memory, through its database: posts, prompts, and folds after each reply."""

    name = "ours"

    def __init__(self, conversation: Conversation, model: ScriptedChat, keeper: Keeper | None = None) -> None:
        self.conversation, self.model = conversation, model
        self.keeper = keeper or Keeper(patience=1.0, first_pause=0.01)
        self.in_background = False  # summaries as in the site: the next turn may come before one is written
        self._tasks: set[asyncio.Task[None]] = set()

    @classmethod
    async def begin(cls, owner: User, model: ScriptedChat, keeper: Keeper | None = None) -> "Ours":
        """With a new conversation."""
        return cls(await in_database(Conversation.make, owner), model, keeper)

    async def say(self, exchange: Exchange, *, shown: bool = True) -> Shown | None:
        """As the services do it, the reply being known."""
        reply = await in_database(self._post, exchange.user)
        prompt = await self._shown(reply) if shown else None
        await self.answer(reply, exchange.assistant)
        return prompt

    async def fill(self, exchanges: Sequence[Exchange]) -> None:
        """Many turns without a prompt for each, folded as they come in portions of some twenty."""
        for start in range(0, len(exchanges), _PORTION):
            last = await in_database(self._insert, exchanges[start : start + _PORTION])
            await self.keeper.after_reply(self.conversation.pk, last, self.model)  # type: ignore[arg-type]

    async def answer(self, reply: Message, text: str) -> None:
        """Finish a reply and do what comes after it."""
        await in_database(reply.finish, Message.Status.COMPLETE, text=text)
        fold = self.keeper.after_reply(self.conversation.pk, reply.pk, self.model)  # type: ignore[arg-type]
        if not self.in_background:
            return await fold
        task = asyncio.create_task(fold)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return None

    async def stop(self) -> None:
        """End what goes on in the background."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def ask(self, question: str) -> Shown:
        """On a branch that is taken away again."""
        head = self.conversation.head_id
        reply = await in_database(self._post, question)
        try:
            return await self._shown(reply)
        finally:
            await self.rewind(head)

    async def rewind(self, head: int | None) -> None:
        """Delete what came after a message, and show that one as the last."""
        await in_database(self._rewind, head)

    def _rewind(self, head: int | None) -> None:
        Conversation.objects.filter(pk=self.conversation.pk).update(head=head)
        self.conversation.messages.filter(pk__gt=head or 0).delete()
        self.conversation.head_id = head

    async def _shown(self, reply: Message) -> Shown:
        prompt: Prompt = await prompt_for(reply, self.model)  # type: ignore[arg-type] # stands in for the local one
        path = await in_database(self.conversation.path, reply.parent_id)
        return Shown(prompt.messages, prompt.parts, tuple(path))

    def _insert(self, exchanges: Sequence[Exchange]) -> int:
        newest = Message.objects.order_by("-pk").values_list("pk", flat=True).first() or 0
        texts = [text for exchange in exchanges for text in (exchange.user, exchange.assistant)]
        rows, parent = [], self.conversation.head_id
        for at, text in enumerate(texts):
            role = (Message.Role.USER, Message.Role.ASSISTANT)[at % 2]
            complete = Message.Status.COMPLETE
            row = Message(conversation=self.conversation, parent_id=parent, role=role, status=complete, text=text)
            row.pk = parent = newest + at + 1
            rows.append(row)
        Message.objects.bulk_create(rows)
        self.conversation.head_id = parent
        self.conversation.save(update_fields=["head"])
        return newest + len(texts)

    def _post(self, text: str) -> Message:
        posted = self.conversation.post(parent=self.conversation.head_id, text=text, client_id=uuid.uuid4())
        return posted.reply


@dataclass
class _Reference:
    """What the others share: turns in memory, and a budget."""

    model: ScriptedChat
    budget: Budget
    turns: list[BaseMessage] = field(default_factory=list)

    async def say(self, exchange: Exchange, *, shown: bool = True) -> Shown | None:
        prompt = await self.ask(exchange.user) if shown else None
        number = len(self.turns) + 1
        self.turns += [HumanMessage(exchange.user, id=str(number)), AIMessage(exchange.assistant, id=str(number + 1))]
        self.after_reply()
        return prompt

    async def ask(self, question: str) -> Shown:
        return Shown([*system(), *self.remembered(HumanMessage(question, id="0")), HumanMessage(question)])

    def after_reply(self) -> None:
        """Nothing, unless a system has something to do."""

    def remembered(self, question: HumanMessage) -> Sequence[BaseMessage]:
        raise NotImplementedError


class Window(_Reference):
    """The newest messages that fit."""

    name = "window"

    def remembered(self, question: HumanMessage) -> Sequence[BaseMessage]:
        """As many as there is room for beside the question."""
        least, most = 0, len(self.turns)
        while least < most:
            half = (least + most + 1) // 2
            fits = self.model.count([*system(), *self.turns[-half:], question]) <= self.budget.prompt
            least, most = (half, most) if fits else (least, half - 1)
        return self.turns[-least:] if least else []


class SummaryOnly(_Reference):
    """The same summaries as ours, without recall."""

    name = "summary only"

    _notes: Notes | None = None
    _folded = 0

    def after_reply(self) -> None:
        """Fold what is due into key sentences."""
        past = self._layout(HumanMessage("."))
        if cut := summary.due(past, self.budget, self.model.count):
            text = summary.extracted(past, cut, summary.is_smaller(past, cut, self.budget, self.model.count))
            if text:
                self._folded += cut
                self._notes = Notes(text, tuple(range(1, self._folded + 1)), 1)

    def remembered(self, question: HumanMessage) -> Sequence[BaseMessage]:
        """Notes and the turns since."""
        prompt = build(self._layout(question), self.budget, self.model.count)
        return [message for message in prompt.messages[:-1] if not isinstance(message, SystemMessage)]

    def _layout(self, question: HumanMessage) -> Layout:
        return Layout(question, system(), notes=self._notes, turns=tuple(self.turns[self._folded :]))


class FullHistory(_Reference):
    """Everything, whatever it costs: the most that could be remembered."""

    name = "full history"

    def remembered(self, question: HumanMessage) -> Sequence[BaseMessage]:
        """All of it."""
        del question
        return self.turns


def system() -> tuple[SystemMessage, ...]:
    """The site's system prompt."""
    return (SystemMessage(settings.CHAT_SYSTEM_PROMPT),) if settings.CHAT_SYSTEM_PROMPT.strip() else ()


def references(model: ScriptedChat, budget: Budget) -> list[System]:
    """The systems that ours is held against."""
    return [Window(model, budget), SummaryOnly(model, budget), FullHistory(model, replace(budget))]
