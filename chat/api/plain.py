"""The plain interface: `POST /chat` for a reply in one line of shell, `GET /health` for whether it would come."""

import asyncio
from collections.abc import Iterable
from dataclasses import replace
from typing import Annotated, Any, Literal

from django.http import HttpResponseBase, JsonResponse
from ninja import Body, Router, Schema
from pydantic import BaseModel, Field, field_validator

from chat import runtime
from chat.api.answers import finish_reason
from chat.api.auth import KeyRequest
from chat.api.described import answers_of
from chat.api.generation import Costs, Joined, joined, loaded_model, requests_for
from chat.api.messages import STRICT
from chat.api.sse import streamed
from chat.inference import Chunk, Event, Finished
from chat.typed import clean, is_blank

router = Router(tags=["Plain"])


class PlainMessage(BaseModel):
    """One turn of the conversation."""

    model_config = STRICT
    role: Literal["system", "user", "assistant"]
    content: str

    @field_validator("content")
    @classmethod
    def _is_clean(cls, text: str) -> str:
        if is_blank(text):
            raise ValueError("A message must say something.")
        return clean(text)


class PlainRequest(BaseModel):
    """A conversation to be continued; temperature 0 always takes the likeliest word."""

    model_config = STRICT
    messages: Annotated[list[PlainMessage], Field(min_length=1, max_length=4096)]
    max_new_tokens: Annotated[int, Field(ge=1, le=2048)] = 512
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    stream: bool = False


class PlainReply(Schema):
    """The reply, and its size in tokens."""

    content: str
    model: str
    prompt_tokens: int
    completion_tokens: int
    finish_reason: Literal["stop", "length"]


class Health(Schema):
    """Whether replies can be written, and by which model."""

    status: Literal["ok", "unavailable"]
    model: str | None


@router.post("/chat", response=answers_of(PlainReply), summary="Get a reply")
async def chat(request: KeyRequest, payload: Body[PlainRequest]) -> HttpResponseBase:
    """Write the next message; with `stream`, as `data: {"content": "..."}` and a last `data: [DONE]`."""
    model = loaded_model()
    sampling = replace(model.sampling, max_tokens=payload.max_new_tokens)
    if payload.temperature is not None:
        sampling = replace(sampling, temperature=payload.temperature)
    if sampling.temperature == 0:
        sampling = replace(sampling, repeat_penalty=1.0)
    messages = [message.model_dump() for message in payload.messages]
    prompt = await asyncio.to_thread(model.engine.prompts.encode, messages, thinking=model.thinking)
    events = joined(model.engine, requests_for(model.engine, prompt, [sampling], request.auth.pk))
    if payload.stream:
        return await streamed(events, _parts, tuple)
    return JsonResponse(await _whole(events) | {"model": model.model_name})


@router.get("/health", auth=None, response={(200, 503): Health}, summary="Whether replies can be written")
async def health(request: Any) -> HttpResponseBase:  # noqa: ARG001
    """Answers at once and to everybody, also while replies are being written; 503 without a model."""
    status = runtime.status()
    body = {"status": "ok" if status.ready else "unavailable", "model": status.model or None}
    return JsonResponse(body, status=200 if status.ready else 503, headers={"Cache-Control": "no-store"})


def _parts(_index: int, event: Event) -> Iterable[dict[str, Any]]:
    if isinstance(event, Chunk) and event.text:
        yield {"content": event.text}


async def _whole(events: Joined) -> dict[str, Any]:
    text: list[str] = []
    finished: list[Finished] = []
    async for numbered in events:
        event = numbered[1] if numbered else None
        if isinstance(event, Chunk):
            text.append(event.text)
        elif isinstance(event, Finished):
            finished.append(event)
    costs = Costs.of(finished)
    return {
        "content": "".join(text),
        "prompt_tokens": costs.prompt_tokens,
        "completion_tokens": costs.completion_tokens,
        "finish_reason": finish_reason(finished[0]),
    }
