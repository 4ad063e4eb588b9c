"""Replies of the engine for one request of the API: several at once, and ended when the client leaves."""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from chat import runtime
from chat.api.errors import SERVER, ApiError, invalid
from chat.generations import log_generation
from chat.inference import Engine, Event, Finished, Request, SamplingParams
from chat.inference.prompt import EncodedPrompt

if TYPE_CHECKING:
    from chat.llm import LocalChatModel

logger = logging.getLogger(__name__)

# Seconds without an event after which `joined` says so, to keep proxies from closing a stream that waits.
QUIET = 15.0
ANY_MODEL = "default"
Joined = AsyncGenerator[tuple[int, Event] | None]


@dataclass(frozen=True)
class Costs:
    """Tokens of all choices together; the prompt counts once."""

    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int
    reasoning_tokens: int

    @classmethod
    def of(cls, finished: Sequence[Finished]) -> "Costs":
        """What these replies to one prompt have cost."""
        usages = [event.usage for event in finished]
        return cls(
            prompt_tokens=usages[0].prompt_tokens,
            completion_tokens=sum(usage.completion_tokens for usage in usages),
            cached_tokens=max(usage.cached_tokens for usage in usages),
            reasoning_tokens=sum(usage.reasoning_tokens for usage in usages),
        )


def loaded_model(name: str = ANY_MODEL) -> "LocalChatModel":
    """The model of this site by its name, or by "default". Raises ApiError 503 and 404."""
    try:
        model = runtime.chat_model()
    except runtime.ModelUnavailable:
        # The reason may name files of this machine; /readyz and the log have it.
        raise ApiError(503, "No model is loaded yet.", kind=SERVER, code="model_not_loaded", retry_after=5) from None
    if name not in {ANY_MODEL, model.model_name}:
        message = f"There is no model {name[:100]!r} here. Use {model.model_name!r} or {ANY_MODEL!r}."
        raise ApiError(404, message, param="model", code="model_not_found")
    return model


def requests_for(
    engine: Engine, prompt: EncodedPrompt, samplings: Sequence[SamplingParams], person: int
) -> list[Request]:
    """One request a choice. A person's caches serve all his own requests, and nobody else's. Raises ApiError."""
    for token, _ in samplings[0].logit_bias:
        if token >= engine.info.vocabulary_size:
            reason = f"{token} is no token of this model, which has {engine.info.vocabulary_size}."
            raise invalid(reason, "logit_bias")
    return [
        Request(
            prompt.tokens,
            sampling,
            owner=str(person),
            cache_key=f"api:{person}",
            one_conversation=False,
            num_shared=prompt.num_shared,
            opens_reasoning=prompt.opens_reasoning,
        )
        for sampling in samplings
    ]


async def joined(engine: Engine, requests: Sequence[Request]) -> Joined:
    """The events of several replies with the number of each, as they come; None whenever nothing came for a while.

    Raises what Engine.generate raises, as soon as one of them fails. Leaving the iteration cancels all.
    """
    events: asyncio.Queue[tuple[int, Event | Exception]] = asyncio.Queue()
    tasks = [asyncio.create_task(_pump(engine, *numbered, events.put_nowait)) for numbered in enumerate(requests)]
    running = len(tasks)
    try:
        while running:
            try:
                async with asyncio.timeout(QUIET):
                    index, event = await events.get()
            except TimeoutError:
                yield None
                continue
            if isinstance(event, Exception):
                raise event
            running -= isinstance(event, Finished)
            yield index, event
    finally:
        for task in tasks:
            task.cancel()


async def _pump(
    engine: Engine, index: int, request: Request, put: Callable[[tuple[int, Event | Exception]], None]
) -> None:
    finished, status = None, "stopped"  # unless it ends before its client leaves
    try:
        async with aclosing(engine.generate(request)) as events:
            async for event in events:
                if isinstance(event, Finished):
                    finished, status = event, "complete"
                put((index, event))
    except Exception as error:  # told to whoever waits for the replies
        status = "failed"
        put((index, error))
    finally:
        usage = asdict(finished.usage) if finished else _used(request, status)
        log_generation(
            request=request.id,
            source="api",
            owner=int(request.owner),
            model=engine.info.name,
            status=status,
            usage=usage,
        )


def _used(request: Request, status: str) -> dict[str, int | str]:
    """The usage of a reply without its last event, as far as it came."""
    return {
        "prompt_tokens": len(request.prompt),
        "cached_tokens": request.num_cached,
        "completion_tokens": request.num_generated,
        "total_ms": round((time.monotonic() - request.submitted_at) * 1000),
        "finish_reason": "cancelled" if status == "stopped" else "error",
    }
