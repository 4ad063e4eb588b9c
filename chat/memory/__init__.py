"""What the model is shown of a conversation: the prompt builder and the summaries."""

from chat.memory.budget import Budget, MessageTooLong
from chat.memory.keeper import Keeper, check_fits, prewarm, prompt_for
from chat.memory.prompt import Part, Prompt

__all__ = ["Budget", "Keeper", "MessageTooLong", "Part", "Prompt", "after_reply", "check_fits", "prewarm", "prompt_for"]

after_reply = Keeper().after_reply
