"""Our engine as a LangChain chat model: true streaming, usage, cancellation, and exact token counts."""

import asyncio
import queue
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import asdict, replace
from functools import partial
from typing import Any

import numpy as np
from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.language_models.chat_models import agenerate_from_stream, generate_from_stream
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, ChatMessage
from langchain_core.messages.ai import InputTokenDetails, OutputTokenDetails, UsageMetadata
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from pydantic import ConfigDict

from chat.inference import (
    GREEDY,
    Chunk,
    Engine,
    EngineFailed,
    Event,
    Finished,
    Priority,
    PromptTooLong,
    Queued,
    QueueFull,
    Request,
    SamplingParams,
    Usage,
)

_ROLES = {"human": "user", "ai": "assistant", "system": "system"}
_SAMPLING = frozenset(SamplingParams.__dataclass_fields__)


class LocalChatModel(BaseChatModel):
    """The model of this process, shared by everybody.

    Beside what LangChain names, `invoke`, `stream` and their asynchronous twins take: `owner` and `conversation` (for
    fairness and for the cache: nothing is reused across conversations), `priority`, `on_queued` (called with the place
    in the queue and the seconds that it may take, whenever they change), `on_begun` (called with a function that ends
    the reply within a step, so that its last chunk comes as always) and any field of SamplingParams. A chunk's
    reasoning is in `additional_kwargs["reasoning_content"]`. The last chunk has the usage, and in its response metadata
    the `finish_reason`, the `usage` of docs/protocol.md, and `token_ids` with `fingerprint`: the reply as it was
    sampled, from which the next prompt is built.

    Raises PromptTooLong, QueueFull, Preempted and EngineFailed of chat.inference.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    engine: Engine
    sampling: SamplingParams = SamplingParams()
    thinking: bool | None = None

    @property
    def _llm_type(self) -> str:
        return "llama.cpp"

    @property
    def model_name(self) -> str:
        """The name people read."""
        return self.engine.info.name

    @property
    def fingerprint(self) -> str:
        """Names the weights; token ids are valid only where it is the same."""
        return self.engine.info.fingerprint

    @property
    def context_tokens(self) -> int:
        """Tokens a conversation has, prompt and reply."""
        return self.engine.info.context

    def count(self, messages: Sequence[BaseMessage]) -> int:
        """Exact tokens of the prompt that these messages become, the beginning of the reply included."""
        return self.engine.prompts.count(self._plain(messages), thinking=self.thinking)

    def get_num_tokens(self, text: str) -> int:
        """Tokens of a text alone."""
        return self.engine.prompts.count_text(text)

    def get_num_tokens_from_messages(self, messages: list[BaseMessage], tools: Sequence[Any] | None = None) -> int:
        """LangChain's name for `count`; tools are not part of the prompt yet."""
        del tools
        return self.count(messages)

    def forget(self, *conversations: str) -> None:
        """Drop what the caches hold of these conversations, parked files included. From any thread."""
        for conversation in conversations:
            self.engine.forget(conversation)
        self.engine.prompts.forget_texts()

    async def prewarm(self, messages: Sequence[BaseMessage], *, owner: str, conversation: str) -> bool:
        """Read the beginning of a conversation's next prompt into the cache while nobody is served.

        Returns False when it gave way to somebody or did not fit; there is no harm in that.
        """
        plain = await asyncio.to_thread(self._plain, messages)
        prompt = await asyncio.to_thread(self.engine.prompts.encode_beginning, plain, thinking=self.thinking)
        request = Request(
            prompt.tokens,
            replace(GREEDY, max_tokens=1),
            owner=owner,
            cache_key=conversation,
            num_shared=prompt.num_shared,
            priority=Priority.PREWARM,
        )
        try:
            async with aclosing(self.engine.generate(request)) as events:
                async for _ in events:
                    pass
        except (EngineFailed, PromptTooLong, QueueFull):
            return False
        return True

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        del run_manager  # the base class reports tokens to it
        on_queued = kwargs.pop("on_queued", None)
        on_begun = kwargs.pop("on_begun", None)
        request = await asyncio.to_thread(self._request, messages, stop, kwargs)
        if on_begun:
            on_begun(partial(self.engine.cancel, request))
        async with aclosing(self.engine.generate(request)) as events:
            async for event in events:
                if chunk := self._chunk(event, on_queued):
                    yield chunk

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        del run_manager
        on_queued = kwargs.pop("on_queued", None)
        request = self._request(messages, stop, kwargs)
        events: queue.SimpleQueue[Event | Exception] = queue.SimpleQueue()
        self.engine.submit(request, events.put)
        try:
            while not isinstance(event := events.get(), Finished):
                if isinstance(event, Exception):
                    raise event
                if chunk := self._chunk(event, on_queued):
                    yield chunk
            yield self._last_chunk(event)
        finally:
            self.engine.cancel(request)

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return await agenerate_from_stream(self._astream(messages, stop, run_manager, **kwargs))

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return generate_from_stream(self._stream(messages, stop, run_manager, **kwargs))

    def _request(self, messages: Sequence[BaseMessage], stop: list[str] | None, options: dict[str, Any]) -> Request:
        chosen = {name: value for name, value in options.items() if name in _SAMPLING and value is not None}
        if stop:
            chosen["stop"] = tuple(stop)
        thinking = options.get("thinking", self.thinking)
        prompt = self.engine.prompts.encode(self._plain(messages), thinking=thinking)
        return Request(
            prompt.tokens,
            replace(self.sampling, **chosen),
            owner=options.get("owner", ""),
            cache_key=options.get("conversation", ""),
            num_shared=prompt.num_shared,
            priority=Priority(options.get("priority", Priority.PERSON)),
            opens_reasoning=prompt.opens_reasoning,
        )

    def _plain(self, messages: Sequence[BaseMessage]) -> list[dict[str, Any]]:
        return [self._plain_one(message) for message in messages]

    def _plain_one(self, message: BaseMessage) -> dict[str, Any]:
        role = message.role if isinstance(message, ChatMessage) else _ROLES.get(message.type)
        if role is None:
            raise ValueError(f"A message of type {message.type!r} cannot be shown to this model.")
        plain: dict[str, Any] = {"role": role, "content": message.text}
        if isinstance(message, AIMessage):
            kept = message.additional_kwargs
            if kept.get("token_ids") and kept.get("fingerprint") == self.fingerprint:
                plain["token_ids"] = unpack_tokens(kept["token_ids"])
        return plain

    def _chunk(self, event: Event, on_queued: Callable[[int, int], None] | None) -> ChatGenerationChunk | None:
        if isinstance(event, Queued):
            if on_queued:
                on_queued(event.position, event.seconds)
            return None
        if isinstance(event, Finished):
            return self._last_chunk(event)
        return ChatGenerationChunk(message=_text_chunk(event))

    def _last_chunk(self, event: Finished) -> ChatGenerationChunk:
        metadata = {
            "finish_reason": event.reason.value,
            "model_name": self.model_name,
            "usage": asdict(event.usage),
            "token_ids": pack_tokens(event.token_ids),
            "fingerprint": self.fingerprint,
        }
        message = AIMessageChunk(
            content="",
            usage_metadata=_usage_metadata(event.usage),
            response_metadata=metadata,
            chunk_position="last",
        )
        return ChatGenerationChunk(message=message)


def pack_tokens(token_ids: Sequence[int]) -> bytes:
    """Token ids as little-endian int32, as Message keeps them."""
    return np.asarray(token_ids, dtype="<i4").tobytes()


def unpack_tokens(packed: bytes) -> tuple[int, ...]:
    """The inverse of pack_tokens."""
    return tuple(np.frombuffer(packed, dtype="<i4").tolist())


def _text_chunk(event: Chunk) -> AIMessageChunk:
    extra = {"reasoning_content": event.reasoning} if event.reasoning else {}
    return AIMessageChunk(content=event.text, additional_kwargs=extra)


def _usage_metadata(usage: Usage) -> UsageMetadata:
    return UsageMetadata(
        input_tokens=usage.prompt_tokens,
        output_tokens=usage.completion_tokens,
        total_tokens=usage.prompt_tokens + usage.completion_tokens,
        input_token_details=InputTokenDetails(cache_read=usage.cached_tokens),
        output_token_details=OutputTokenDetails(reasoning=usage.reasoning_tokens),
    )
