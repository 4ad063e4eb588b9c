"""Replies of the engine for one request of the API: several at once, and ended when the client leaves."""

import asyncio
import logging
import time
from collections import deque
from collections.abc import AsyncGenerator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeGuard

from chat import runtime
from chat.api.errors import SERVER, ApiError, invalid
from chat.generations import log_generation
from chat.inference import Chunk, Engine, Event, Finished, Request, SamplingParams
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
    arrivals = _Arrivals(engine)
    for request in requests:
        arrivals.ask(request)
    running = len(requests)
    try:
        while running:
            arrival = await arrivals.next()
            if arrival is None:
                yield None
                continue
            index, event = arrival
            if isinstance(event, Exception):
                raise event
            running -= isinstance(event, Finished)
            yield index, event
    finally:
        arrivals.close()


class _Arrivals:
    """What comes of some requests, in its order; each request is logged when it ends.

    Text that comes at the same moment is one event. There is no task for each request and no timer for each event: at
    a hundred tokens a second they would cost more than the rest.
    """

    def __init__(self, engine: Engine) -> None:
        self._events: deque[tuple[int, Event | Exception] | None] = deque()
        self._changed = asyncio.Event()
        self._engine = engine
        self._requests: list[Request] = []
        self._ended: set[int] = set()
        self._loop = asyncio.get_running_loop()
        self._heard = self._loop.time()
        self._timer = self._loop.call_later(QUIET, self._tick)

    def ask(self, request: Request) -> None:
        """Queue a request; what the engine refuses at once comes as an event as well."""
        index = len(self._requests)
        self._requests.append(request)
        put = partial(self._take, index)
        try:
            self._engine.listen(request, put)
        except Exception as error:  # told to whoever waits for the replies
            put(error)

    async def next(self) -> tuple[int, Event | Exception] | None:
        """Wait for what comes next, and take it."""
        while not self._events:
            self._changed.clear()
            await self._changed.wait()
        return self._events.popleft()

    def close(self) -> None:
        """Cancel what has not ended."""
        self._timer.cancel()
        for index, request in enumerate(self._requests):
            if index not in self._ended:
                self._engine.cancel(request)
                self._log(index, "stopped", _used(request, "stopped"))

    def _take(self, index: int, event: Event | Exception) -> None:
        if index in self._ended:  # its client has left
            return
        self._heard = self._loop.time()
        if isinstance(event, Finished):
            self._log(index, "complete", asdict(event.usage))
        elif isinstance(event, Exception):
            self._log(index, "failed", _used(self._requests[index], "failed"))
        self._put(index, event)

    def _put(self, index: int, event: Event | Exception) -> None:
        last = self._events[-1] if self._events else None
        if last and last[0] == index and _is_plain(last[1]) and _is_plain(event):
            self._events[-1] = index, Chunk(last[1].text + event.text)
        else:
            self._events.append((index, event))
        self._changed.set()

    def _tick(self) -> None:
        left = self._heard + QUIET - self._loop.time()
        if left <= 0:
            self._events.append(None)
            self._changed.set()
            left = QUIET
        self._timer = self._loop.call_later(left, self._tick)

    def _log(self, index: int, status: str, usage: dict[str, Any]) -> None:
        self._ended.add(index)
        request = self._requests[index]
        log_generation(
            request=request.id,
            source="api",
            owner=int(request.owner),
            model=self._engine.info.name,
            status=status,
            usage=usage,
        )


def _is_plain(event: Event | Exception) -> TypeGuard[Chunk]:
    return isinstance(event, Chunk) and not event.reasoning and not event.logprobs


def _used(request: Request, status: str) -> dict[str, int | str]:
    """The usage of a reply without its last event, as far as it came."""
    return {
        "prompt_tokens": len(request.prompt),
        "cached_tokens": request.num_cached,
        "completion_tokens": request.num_generated,
        "total_ms": round((time.monotonic() - request.submitted_at) * 1000),
        "finish_reason": "cancelled" if status == "stopped" else "error",
    }
