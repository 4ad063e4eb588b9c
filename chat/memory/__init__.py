"""What the model is shown of a conversation: the prompt builder, summaries, recall and facts about people."""

import logging
import uuid
from typing import TYPE_CHECKING

from chat.database import in_database
from chat.memory import facts
from chat.memory.budget import Budget, MessageTooLong
from chat.memory.facts import choose as choose_facts
from chat.memory.keeper import Keeper, check_fits, prewarm, prompt_for
from chat.memory.prompt import Part, Prompt
from chat.memory.sent import as_stored as sent_as_stored

if TYPE_CHECKING:
    from chat.llm import LocalChatModel

__all__ = [
    "Budget",
    "Keeper",
    "MessageTooLong",
    "Part",
    "Prompt",
    "after_reply",
    "check_fits",
    "choose_facts",
    "keeper",
    "prewarm",
    "prompt_for",
    "sent_as_stored",
]

logger = logging.getLogger(__name__)
keeper = Keeper()


async def after_reply(conversation: uuid.UUID, leaf: int, model: "LocalChatModel") -> None:
    """What memory does once a reply stands: learn about the person, and fold what is due. Logs no content."""
    try:
        await in_database(facts.learn, conversation, leaf)
    except Exception as error:
        logger.error("Nothing was learnt from reply %s: %s", leaf, type(error).__name__)
    await keeper.after_reply(conversation, leaf, model)
