"""`POST /v1/completions`: a text continued as it stands, without a chat template."""

import asyncio
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any

from django.http import HttpResponseBase, JsonResponse
from ninja import Body, Router
from pydantic import Field, model_validator

from chat.api.answers import Envelope, TextCompletion, finish_reason, finite, usage_of
from chat.api.auth import KeyRequest
from chat.api.described import answers_of
from chat.api.generation import Joined, joined, loaded_model, requests_for
from chat.api.sampling import SamplingFields
from chat.api.sse import streamed
from chat.inference import Chunk, Event, Finished, Queued, Request, TokenLogprob
from chat.typed import clean

if TYPE_CHECKING:
    from chat.llm import LocalChatModel

router = Router(tags=["OpenAI"])


class TextRequest(SamplingFields):
    """A text to be continued. No part of it can become a control token of the model."""

    prompt: Annotated[str, Field(min_length=1)] | Annotated[list[str], Field(min_length=1, max_length=1)]
    logprobs: Annotated[int, Field(ge=0, le=5)] | None = None
    echo: bool | None = None
    suffix: str | None = None
    best_of: int | None = None

    @model_validator(mode="after")
    def _is_supported(self) -> "TextRequest":
        if self.echo or self.suffix or self.best_of not in {None, self.choices}:
            raise ValueError("echo, suffix and best_of are not supported.")
        if not self.text:
            raise ValueError("The prompt is empty.")
        return self

    @property
    def text(self) -> str:
        """The text, without control characters."""
        return clean(self.prompt if isinstance(self.prompt, str) else self.prompt[0])


@router.post("/completions", response=answers_of(TextCompletion), summary="Continue a text")
async def completions(request: KeyRequest, payload: Body[TextRequest]) -> HttpResponseBase:
    """Write on; with `stream`, as server-sent events that end with `[DONE]`."""
    model = loaded_model(payload.model)
    requests = await asyncio.to_thread(_requests, model, payload, request.auth.pk)
    answer = _TextAnswer(model, len(requests))
    events = joined(model.engine, requests)
    if payload.stream:
        return await streamed(events, answer.parts, lambda: answer.end(usage=payload.wants_usage))
    return JsonResponse(await answer.whole(events))


def _requests(model: "LocalChatModel", body: TextRequest, person: int) -> list[Request]:
    more = {} if body.logprobs is None else {"logprobs": body.logprobs}
    prompt = model.engine.prompts.encode_text(body.text)
    return requests_for(model.engine, prompt, body.sampling(model.sampling, **more), person)


class _TextAnswer:
    """Turns events into OpenAI's older shapes."""

    def __init__(self, model: "LocalChatModel", choices: int) -> None:
        self._envelope = Envelope("cmpl", "text_completion", model.model_name, model.fingerprint)
        self._choices: list[dict[str, Any]] = [
            {"index": index, "text": "", "logprobs": None, "finish_reason": None} for index in range(choices)
        ]
        self._finished: list[Finished] = []

    def parts(self, index: int, event: Event) -> Iterable[dict[str, Any]]:
        """The parts of a stream that this event makes; reasoning is text here like any other."""
        choice = self._choices[index]
        part: dict[str, Any] = {"index": index, "text": "", "logprobs": None, "finish_reason": None}
        if isinstance(event, Chunk):
            part["text"] = event.reasoning + event.text
            part["logprobs"] = _logprobs(event.logprobs, len(choice["text"])) if event.logprobs else None
        elif isinstance(event, Finished):
            self._finished.append(event)
            part["finish_reason"] = choice["finish_reason"] = finish_reason(event)
        choice["text"] += part["text"]
        choice["logprobs"] = _sum(choice["logprobs"], part["logprobs"])
        yield self._envelope.around([part])

    def end(self, *, usage: bool) -> Iterable[dict[str, Any]]:
        """The last part of a stream."""
        if usage:
            yield self._envelope.around([], usage_of(self._finished))

    async def whole(self, events: Joined) -> dict[str, Any]:
        """The answer when all has been written."""
        async for numbered in events:
            if numbered and not isinstance(numbered[1], Queued):
                list(self.parts(*numbered))
        return self._envelope.around(self._choices, usage_of(self._finished))


def _logprobs(tokens: tuple[TokenLogprob, ...], offset: int) -> dict[str, Any]:
    texts = [token.piece.decode(errors="replace") for token in tokens]
    return {
        "tokens": texts,
        "token_logprobs": [finite(token.logprob) for token in tokens],
        "top_logprobs": [
            {piece.decode(errors="replace"): finite(logprob) for piece, logprob in token.top} for token in tokens
        ],
        "text_offset": [offset + sum(map(len, texts[:place])) for place in range(len(texts))],
    }


def _sum(one: dict[str, Any] | None, other: dict[str, Any] | None) -> dict[str, Any] | None:
    if one is None or other is None:
        return one or other
    return {name: one[name] + other[name] for name in one}
