"""A chat model without weights: counts tokens, and answers requests for summaries by a script."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import ConfigDict

from chat.memory.checking.reading import Reader

Script = Callable[[list[BaseMessage]], Awaitable[tuple[str, str]]]
"""From a request for a summary to its text and finish reason; may raise whatever a model raises."""


async def too_small(_: list[BaseMessage]) -> tuple[str, str]:
    """Like a model that is too small to summarise: what it writes is never of use, so key sentences are taken."""
    return "Nothing to note.", "stop"


class ScriptedChat(BaseChatModel):
    """Stands in for chat.llm.LocalChatModel where memory is concerned."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    reader: Any
    context_tokens: int
    script: Any = too_small
    model_name: str = "scripted"

    @property
    def _llm_type(self) -> str:
        return "scripted"

    @property
    def fingerprint(self) -> str:
        """Of nobody's weights."""
        return self.tokens_by.fingerprint

    @property
    def tokens_by(self) -> Reader:
        """The reader, with its type."""
        reader: Reader = self.reader
        return reader

    def count(self, messages: Sequence[BaseMessage]) -> int:
        """Tokens of the whole prompt."""
        return len(self.tokens_by.tokens(messages))

    def get_num_tokens(self, text: str) -> int:
        """Tokens of a text alone."""
        empty, full = [AIMessage("")], [AIMessage(text)]
        return max(0, self.count(full) - self.count(empty))

    async def prewarm(self, messages: Sequence[BaseMessage], **_: Any) -> bool:
        """Nothing is cached here."""
        del messages
        return True

    def _generate(self, *_: Any, **__: Any) -> ChatResult:
        raise NotImplementedError("Summaries are asked for asynchronously.")

    async def _agenerate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        text, reason = await self.script(messages)
        answer = AIMessage(text, response_metadata={"finish_reason": reason})
        return ChatResult(generations=[ChatGeneration(message=answer)])
