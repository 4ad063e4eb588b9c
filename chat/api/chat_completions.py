"""`POST /v1/chat/completions`: a reply to a conversation, whole or as it grows."""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.http import HttpResponseBase, JsonResponse
from ninja import Body, Router

from chat.api.answers import ChatCompletion, Envelope, usage_of
from chat.api.auth import KeyRequest
from chat.api.calls import Reader
from chat.api.chat_request import ChatRequest, SchemaFormat
from chat.api.choices import ChoiceWriter
from chat.api.described import answers_of
from chat.api.errors import invalid
from chat.api.generation import Joined, joined, loaded_model, requests_for
from chat.api.sse import streamed
from chat.api.tools import ToolPlan, plan_tools, tell
from chat.inference import Event, Finished, Queued, Request, UnusableGrammar, UnusableSchema

if TYPE_CHECKING:
    from chat.llm import LocalChatModel

router = Router(tags=["OpenAI"])


@router.post("/chat/completions", response=answers_of(ChatCompletion), summary="Continue a conversation")
async def chat_completions(request: KeyRequest, payload: Body[ChatRequest]) -> HttpResponseBase:
    """Write the assistant's next message; with `stream`, as server-sent events that end with `[DONE]`."""
    model = loaded_model(payload.model)
    plan = await asyncio.to_thread(_plan, model, payload, request.auth.pk)
    events = joined(model.engine, plan.requests)
    answer = _ChatAnswer(model, plan)
    if payload.stream:
        return await streamed(events, answer.parts, lambda: answer.end(usage=payload.wants_usage))
    return JsonResponse(await answer.whole(events))


@dataclass(frozen=True)
class _Plan:
    requests: list[Request]
    reader: Callable[[], Reader]


def _plan(model: "LocalChatModel", body: ChatRequest, person: int) -> _Plan:
    """Everything that takes time and is no generation: template, tokens, grammar."""
    prompts = model.engine.prompts
    tools = plan_tools(body)
    grammar = _grammar(model, body, tools)
    messages = [message.plain() for message in body.messages]
    if tools.tools and not prompts.supports_tools:
        messages = tell(messages, tools.tools)
    prompt = prompts.encode(
        messages,
        thinking=_thinking(model, body, bool(grammar)),
        tools=tools.tools if prompts.supports_tools else None,
        extra=body.chat_template_kwargs,
        beginning=tools.beginning or ("" if grammar else None),
    )
    params = body.sampling(model.sampling, **_more(body, grammar))
    return _Plan(requests_for(model.engine, prompt, params, person), tools.reader)


def _grammar(model: "LocalChatModel", body: ChatRequest, tools: ToolPlan) -> str:
    if tools.schema is not None:
        try:
            return model.engine.grammar_of(tools.schema)
        except (UnusableSchema, UnusableGrammar) as error:
            raise invalid(f"The parameters of a tool: {error}", "tools", "invalid_schema") from error
    wanted = body.response_format
    if wanted is None or wanted.type == "text":
        return ""
    schema = wanted.json_schema.schema_ if isinstance(wanted, SchemaFormat) else {"type": "object"}
    return model.engine.grammar_of(schema)


def _thinking(model: "LocalChatModel", body: ChatRequest, is_held: bool) -> bool | None:
    """A reply that a grammar holds from its first token has no room for reasoning."""
    if is_held:
        return False
    wanted = (body.chat_template_kwargs or {}).get("enable_thinking")
    return wanted if isinstance(wanted, bool) else model.thinking


def _more(body: ChatRequest, grammar: str) -> dict[str, Any]:
    """Parameters that only chats have."""
    more: dict[str, Any] = {"grammar": grammar} if grammar else {}
    if body.max_completion_tokens is not None:
        more["max_tokens"] = body.max_completion_tokens
    if body.logprobs:
        more["logprobs"] = body.top_logprobs or 0
    return more


class _ChatAnswer:
    """Turns events into OpenAI's chat shapes."""

    def __init__(self, model: "LocalChatModel", plan: _Plan) -> None:
        self._named = (model.model_name, model.fingerprint)
        self._writers = [ChoiceWriter(plan.reader()) for _ in plan.requests]
        self._chunk = Envelope("chatcmpl", "chat.completion.chunk", *self._named)
        self._finished: list[Finished] = []

    def parts(self, index: int, event: Event) -> Iterable[dict[str, Any]]:
        """The parts of a stream that this event makes."""
        if isinstance(event, Finished):
            self._finished.append(event)
        for part in self._writers[index].parts(event):
            yield self._chunk.around([{"index": index} | part])

    def end(self, *, usage: bool) -> Iterable[dict[str, Any]]:
        """The last part of a stream."""
        if usage:
            yield self._chunk.around([], usage_of(self._finished))

    async def whole(self, events: Joined) -> dict[str, Any]:
        """The answer when all has been written."""
        async for numbered in events:
            if numbered and not isinstance(numbered[1], Queued):
                for _ in self.parts(*numbered):
                    pass
        choices = [{"index": index} | writer.whole() for index, writer in enumerate(self._writers)]
        return Envelope("chatcmpl", "chat.completion", *self._named).around(choices, usage_of(self._finished))
