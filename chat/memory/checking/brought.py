"""Builds the prompt for a history that somebody brings along, in a data directory of its own, and lists its parts."""

import uuid
from datetime import timedelta
from typing import Any

from django.utils import timezone

from accounts.models import User
from chat import runtime
from chat.database import in_database
from chat.memory import vectors
from chat.memory.branch import read_question
from chat.memory.checking import history
from chat.memory.checking.history import History, Turn
from chat.memory.checking.reading import Reader
from chat.memory.checking.scripted import ScriptedChat
from chat.memory.keeper import Keeper, prompt_for
from chat.memory.prompt import Part
from chat.models import Conversation, Message

RESERVE = 1  # tokens for the reply: what is asked for is the prompt alone


async def show(past: History, budget: int, reader: Reader) -> dict[str, Any]:
    """The parts of the prompt at a budget in tokens. Raises MessageTooLong when the question alone has more.

    The setting LLM_MAX_REPLY_TOKENS must be RESERVE here, so that the rest of the context is the prompt's.
    """
    model = ScriptedChat(reader=reader, context_tokens=budget + RESERVE)
    conversation, leaf = await in_database(_insert, past)
    if leaf:
        await Keeper(patience=1.0).after_reply(conversation.pk, leaf, model)  # type: ignore[arg-type]
    if embedder := runtime.embedder():
        await vectors.add_missing(conversation.pk, embedder)
        await embedder.aembed([past.question])
    reply = await in_database(_ask, conversation, leaf, past.question)
    prompt = await prompt_for(reply, model)  # type: ignore[arg-type]
    layout = (await in_database(read_question, reply, model.fingerprint)).layout
    sizes = [(part.kind, part.num_tokens, _num_messages(part, bool(layout.system))) for part in prompt.parts]
    return {
        "tokens": prompt.num_tokens,
        "budget": budget,
        "tokens_by": reader.name,
        "embeddings": embedder.info.name if embedder else None,
        "parts": history.parts(prompt.messages, sizes),
    }


def _num_messages(part: Part, has_system: bool) -> int:
    match part.kind:
        case "system":
            return int(has_system)
        case "left_out":
            return 0
        case "turns":
            return len(part.messages)
    return 1


def _insert(past: History) -> tuple[Conversation, int | None]:
    owner = User.objects.create_user(f"check-{uuid.uuid4().hex[:8]}", password=None)
    conversation = Conversation.make(owner)
    return conversation, _insert_turns(conversation, past.turns)


def _insert_turns(conversation: Conversation, turns: list[Turn]) -> int | None:
    """Rows as the site would have them; what has no date was said just after what came before it."""
    parent: Message | None = None
    at = timezone.now() - timedelta(seconds=len(turns))
    for turn in turns:
        if turn.role == Message.Role.ASSISTANT and parent is None:
            parent = conversation.messages.create(role="user", status=Message.Status.COMPLETE, text="(no message)")
        parent = conversation.messages.create(
            parent=parent, role=turn.role, status=Message.Status.COMPLETE, text=turn.text
        )
        at = turn.at or at + timedelta(seconds=1)
        Message.objects.filter(pk=parent.pk).update(created_at=at)
    return parent.pk if parent else None


def _ask(conversation: Conversation, leaf: int | None, question: str) -> Message:
    complete = Message.Status.COMPLETE
    message = conversation.messages.create(parent_id=leaf, role=Message.Role.USER, status=complete, text=question)
    return conversation.messages.create(parent=message, role=Message.Role.ASSISTANT, status=Message.Status.QUEUED)
