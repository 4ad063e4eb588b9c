"""The bodies of answers, in OpenAI's shapes."""

import math
import time
import uuid
from typing import Any, Literal

from ninja import Schema

from chat.api.generation import Costs
from chat.inference import Finished, FinishReason, TokenLogprob

_LEAST_LOGPROB = -9999.0  # OpenAI's number for "never"
_FINISH = {FinishReason.STOP: "stop", FinishReason.LENGTH: "length", FinishReason.TIME: "length"}


class PromptDetails(Schema):
    """Tokens of the prompt that were already read for an earlier request of the same person."""

    cached_tokens: int


class CompletionDetails(Schema):
    """Tokens of the reply that were reasoning."""

    reasoning_tokens: int


class UsageBody(Schema):
    """What an answer cost, in tokens, all its choices together."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int
    prompt_tokens_details: PromptDetails
    completion_tokens_details: CompletionDetails


class FunctionBody(Schema):
    """A function that the model calls; `arguments` is JSON text, and may be cut when `finish_reason` is length."""

    name: str
    arguments: str


class ToolCallBody(Schema):
    """One call."""

    id: str
    type: Literal["function"]
    function: FunctionBody


class MessageBody(Schema):
    """A reply."""

    role: Literal["assistant"]
    content: str | None
    reasoning_content: str | None = None
    tool_calls: list[ToolCallBody] | None = None


class ChatChoice(Schema):
    """One of the replies."""

    index: int
    message: MessageBody
    logprobs: dict[str, Any] | None
    finish_reason: Literal["stop", "length", "tool_calls"]


class ChatCompletion(Schema):
    """The answer to `/v1/chat/completions` that is no stream."""

    id: str
    object: Literal["chat.completion"]
    created: int
    model: str
    system_fingerprint: str
    choices: list[ChatChoice]
    usage: UsageBody


class TextChoice(Schema):
    """One of the texts."""

    index: int
    text: str
    logprobs: dict[str, Any] | None
    finish_reason: Literal["stop", "length"]


class TextCompletion(Schema):
    """The answer to `/v1/completions` that is no stream."""

    id: str
    object: Literal["text_completion"]
    created: int
    model: str
    system_fingerprint: str
    choices: list[TextChoice]
    usage: UsageBody


class Envelope:
    """What every part of one answer has in common."""

    def __init__(self, prefix: str, kind: str, model: str, fingerprint: str) -> None:
        """A new id, made now."""
        self._common = {
            "id": f"{prefix}-{uuid.uuid4().hex}",
            "object": kind,
            "created": int(time.time()),
            "model": model,
            "system_fingerprint": f"fp_{fingerprint[:16]}",
        }

    def around(self, choices: list[dict[str, Any]], usage: dict[str, Any] | None = None) -> dict[str, Any]:
        """A whole answer, or a part of a stream."""
        return self._common | {"choices": choices, "usage": usage}


def usage_of(finished: list[Finished]) -> dict[str, Any]:
    """UsageBody of these replies to one prompt."""
    costs = Costs.of(finished)
    return {
        "prompt_tokens": costs.prompt_tokens,
        "completion_tokens": costs.completion_tokens,
        "total_tokens": costs.prompt_tokens + costs.completion_tokens,
        "prompt_tokens_details": {"cached_tokens": costs.cached_tokens},
        "completion_tokens_details": {"reasoning_tokens": costs.reasoning_tokens},
    }


def finish_reason(event: Finished) -> str:
    """OpenAI's word for why a reply ended."""
    return _FINISH.get(event.reason, "stop")


def logprobs_of(tokens: tuple[TokenLogprob, ...]) -> list[dict[str, Any]]:
    """The entries of a chat choice's `logprobs.content`."""
    return [
        _token(token.piece, token.logprob) | {"top_logprobs": [_token(*alternative) for alternative in token.top]}
        for token in tokens
    ]


def finite(logprob: float) -> float:
    """A log probability as JSON can hold it."""
    return logprob if math.isfinite(logprob) else _LEAST_LOGPROB


def _token(piece: bytes, logprob: float) -> dict[str, Any]:
    return {"token": piece.decode(errors="replace"), "logprob": finite(logprob), "bytes": list(piece)}
