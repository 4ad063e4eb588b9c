"""A model's chat template: what it can do, and the prompt that it makes of a conversation."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

from chat.inference.template import traits
from chat.inference.template.adapt import LADDER, NOTES, Call, Turn, shape, spell_calls
from chat.inference.template.contents import Contents, Segment
from chat.inference.template.sandbox import Refused, compile_template, parse, run

logger = logging.getLogger(__name__)

GENERIC = """\
{{ bos_token }}
{%- for message in messages %}
{{- '### ' + message.role | capitalize + '\\n' + message.content }}
{{- (eos_token if message.role == 'assistant' else '') + '\\n\\n' }}
{%- endfor %}
{{- '### Assistant\\n' if add_generation_prompt }}"""

_PROBE_DATE = datetime(2025, 1, 1, tzinfo=UTC)  # probes are compared with each other, over midnight too


class ChatTemplate:
    """Renders conversations. Contents never reach the template, so no text can steer it or become a control token.

    Safe to use from several threads.
    """

    def __init__(
        self, source: str, *, bos: str = "", eos: str = "", strftime_now: Callable[[str], str] | None = None
    ) -> None:
        """Compile `source`; raise TemplateError naming the reason when it does not compile.

        An empty `source`, for a model file that carries no template, makes a plain one of headings.
        """
        self._notes: dict[str, None] = {}
        self.stop_texts: tuple[str, ...] = ()  # where a reply has ended, for a model that was taught no marker
        if not source.strip():
            source = GENERIC
            self.stop_texts = ("\n### User\n",)
        tree = parse(source)
        self._template = compile_template(source)
        self._tokens = {"bos_token": bos, "eos_token": eos}
        self._strftime_now = strftime_now
        self._switches = traits.find_switches(tree)
        self._works: dict[tuple[bool, ...], int] = {}
        self.supports_thinking = bool(self._switches)
        self.reasoning = traits.find_reasoning(source)
        self.turn_end = traits.find_turn_end(self._probe, eos)

    @property
    def adapted(self) -> tuple[str, ...]:
        """What conversations had to be adapted for so far, each kind once."""
        return tuple(self._notes)

    def render(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        thinking: bool | None = None,
        now: datetime | None = None,
        tools: Sequence[Mapping[str, Any]] | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> list[Segment]:
        """The prompt for the assistant's next turn, as segments in order; it never fails a conversation.

        `messages` have "role" (system, user, assistant or tool), "content" and perhaps "reasoning_content"; an
        assistant's perhaps "tool_calls" ("id", "name" and "arguments", JSON of any kind), a tool's "tool_call_id".
        `thinking` sets the template's own switch, None leaves its default. The template sees and prints `extra`
        variables as they are: a text among them must not be able to spell a control token.
        """
        contents = Contents()
        turns = [turn for index, message in enumerate(messages) if (turn := self._hide(contents, index, message))]
        variables = self._variables(thinking, now) | dict(extra or {})
        if tools:
            variables["tools"] = contents.hide_in_json(tools)
        return self._render_adapted(turns, contents, variables)

    def opens_reasoning(self, segments: Sequence[Segment]) -> bool:
        """Whether a prompt ends inside the model's reasoning, so that the reply begins there."""
        if self.reasoning is None or not segments or not segments[-1].special:
            return False
        return segments[-1].text.rstrip().endswith(self.reasoning[0].rstrip())

    def begin_answer(self, segments: Sequence[Segment], text: str) -> list[Segment]:
        """The same prompt with the beginning of the answer; it closes reasoning that the template has opened."""
        closing = f"{self.reasoning[1]}\n\n" if self.reasoning and self.opens_reasoning(segments) else ""
        return [*segments, Segment(closing + text, special=True)] if closing + text else list(segments)

    @cached_property
    def supports_tools(self) -> bool:
        """Whether the template tells the model of tools, and writes calls in a way that chat.api.calls can read."""
        call = {"type": "function", "id": "Zqid12345", "function": {"name": "Zqcall", "arguments": {"a": "b"}}}
        talk = [
            {"role": "user", "content": "Zquser"},
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "content": "Zqresult", "tool_call_id": "Zqid12345", "name": "Zqcall"},
        ]
        try:
            text = run(self._template, self._variables(None, _PROBE_DATE) | {"messages": talk, "tools": [_PROBE_TOOL]})
        except Refused:
            return False
        return "Zqtool" in text and "Zqresult" in text and bool(_KNOWN_CALL.search(text))

    def _hide(self, contents: Contents, index: int, message: Mapping[str, Any]) -> Turn | None:
        role = _ROLES.get(str(message.get("role")), "user")
        content = str(message.get("content") or "")
        if role == "system" and not content.strip():
            return None
        text = self._trims[role].apply(content) if role in self._trims else content
        reasoning = str(message.get("reasoning_content") or "").strip() if role == "assistant" else ""
        return Turn(
            role,
            # A template may write more around a content than around none.
            contents.hide(text, index, exact=text == content) if text or not message.get("tool_calls") else "",
            contents.hide(reasoning, index) if reasoning else "",
            tuple(_hidden_call(contents, call) for call in message.get("tool_calls") or ()),
            contents.hide_in_json(message.get("tool_call_id") or ""),
        )

    def _render_adapted(self, turns: list[Turn], contents: Contents, variables: dict[str, Any]) -> list[Segment]:
        """Climb the ladder to the first form that the template takes and of which it leaves out nothing."""
        incomplete: list[Segment] | None = None
        reason = ""
        for rung, adapted in self._forms(turns):
            try:
                rendered = run(self._template, variables | self._messages(adapted))
                segments = contents.reveal(rendered)
            except Refused as refusal:
                reason = reason or str(refusal)
                continue
            shown = contents.placeholders(rendered)
            if all(contents.placeholders(_said(turn)) <= shown for turn in turns):
                self._remember(turns, rung)
                return segments
            if incomplete is None and _shows_last_user(turns, contents, shown):
                incomplete = segments
        if incomplete is not None:
            self._note("a message that the template leaves out")
            return incomplete
        self._note(f"a conversation that the template refuses, put as plain text ({reason or 'a message is missing'})")
        return contents.reveal(run(_generic_template, variables | {"messages": _as_dicts(turns, parts=False)}))

    def _forms(self, turns: list[Turn]) -> Iterator[tuple[int, list[Turn]]]:
        """The conversation by each rung of the ladder, what worked for its like first, nothing twice."""
        known = self._works.get(shape(turns), 0)
        tried: list[list[Turn]] = []
        for rung in sorted(self._rungs(turns), key=lambda rung: rung != known):
            adapted = turns
            for step in LADDER[rung]:
                adapted = step(adapted)
            if adapted not in tried:
                tried.append(adapted)
                yield rung, adapted

    def _rungs(self, turns: list[Turn]) -> Iterator[int]:
        """Templates that know no tools would print a role that their model was never taught."""
        spelled = not self.supports_tools and any(turn.calls or turn.role == "tool" for turn in turns)
        return (rung for rung, steps in enumerate(LADDER) if spell_calls in steps or not spelled)

    def _remember(self, turns: list[Turn], rung: int) -> None:
        self._works[shape(turns)] = rung
        for step in LADDER[rung]:
            self._note(NOTES[step])

    def _note(self, note: str) -> None:
        if note not in self._notes:
            self._notes[note] = None
            logger.warning("Adapted to the model's chat template: %s", note)

    def _variables(self, thinking: bool | None, now: datetime | None) -> dict[str, Any]:
        switches = dict.fromkeys(self._switches, thinking) if thinking is not None else {}
        return {
            **self._tokens,
            **self._no_tools,
            **switches,
            "add_generation_prompt": True,
            "strftime_now": self._clock(now),
        }

    def _clock(self, now: datetime | None) -> Callable[[str], str]:
        if now is None and self._strftime_now is not None:
            return self._strftime_now
        return (now or datetime.now().astimezone()).strftime

    def _messages(self, turns: list[Turn]) -> dict[str, Any]:
        return {"messages": _as_dicts(turns, parts=self._parts)}

    @cached_property
    def _no_tools(self) -> dict[str, Any]:
        """Some templates want `tools` to be none (as transformers passes it), some take that for a list of tools."""
        plain = {**self._tokens, "add_generation_prompt": True, "strftime_now": _PROBE_DATE.strftime}
        plain["messages"] = [{"role": "user", "content": "Zquser"}]
        lengths = {}
        for name, choice in {"none": {"tools": None}, "undefined": {}}.items():
            try:
                lengths[name] = len(run(self._template, plain | choice))
            except Refused:
                continue
        return {} if lengths and min(lengths, key=lambda name: lengths[name]) == "undefined" else {"tools": None}

    @cached_property
    def _parts(self) -> bool:
        return traits.wants_parts(self._probe_as_given)

    @cached_property
    def _trims(self) -> dict[str, traits.Trim]:
        return {role: traits.find_trim(self._probe, role) for role in ("system", "user", "assistant")}

    def _probe(self, messages: list[traits.Message], generate: bool) -> str:
        turns = [Turn(message["role"], message["content"]) for message in messages]
        return self._probe_as_given(_as_dicts(turns, parts=self._parts), generate)

    def _probe_as_given(self, messages: Sequence[traits.Message], generate: bool) -> str:
        variables = self._variables(None, _PROBE_DATE) | {"messages": messages, "add_generation_prompt": generate}
        return run(self._template, variables)


_ROLES = {"system": "system", "developer": "system", "user": "user", "assistant": "assistant", "tool": "tool"}
_PROBE_TOOL = {
    "type": "function",
    "function": {"name": "Zqtool", "description": "Zqtool", "parameters": {"type": "object", "properties": {}}},
}
_KNOWN_CALL = re.compile(r'\{\s*"name":\s*"Zqcall"|<function=Zqcall>')
_generic_template = compile_template(GENERIC)


def _as_dicts(turns: list[Turn], *, parts: bool) -> list[traits.Message]:
    messages: list[traits.Message] = []
    for turn in turns:
        content = [{"type": "text", "text": turn.content}] if parts else turn.content
        reasoning = {"reasoning_content": turn.reasoning} if turn.reasoning else {}
        calls = {"tool_calls": [_call_as_dict(call) for call in turn.calls]} if turn.calls else {}
        answered = {"tool_call_id": turn.call_id} if turn.role == "tool" else {}
        messages.append({"role": turn.role, "content": content, **reasoning, **calls, **answered})
    return messages


def _hidden_call(contents: Contents, call: Mapping[str, Any]) -> Call:
    arguments = call["arguments"]
    text = json.dumps(arguments, ensure_ascii=False)
    name = contents.hide(str(call["name"]))
    return Call(
        name, contents.hide_in_json(arguments), contents.hide(text), contents.hide_in_json(str(call.get("id") or ""))
    )


def _call_as_dict(call: Call) -> dict[str, Any]:
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}


def _said(turn: Turn) -> str:
    """All placeholders of which a prompt must leave out none."""
    return " ".join([turn.content, *(call.name for call in turn.calls)])


def _shows_last_user(turns: list[Turn], contents: Contents, shown: set[str]) -> bool:
    last = next((turn for turn in reversed(turns) if turn.role == "user"), None)
    return last is None or contents.placeholders(last.content) <= shown
