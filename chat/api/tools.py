"""How the tools of a request reach the model: what it is told, how its reply begins, and what the reply is held to."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from chat.api.calls import OPENING, ArgumentsReader, CallReader, PlainReader, Reader
from chat.api.chat_request import ChatRequest, ChosenTool, Tool

Plain = dict[str, Any]


@dataclass(frozen=True)
class ToolPlan:
    """What a request's tools mean for one generation.

    `tools` goes to the template. `beginning` is put before the reply, `schema` holds the reply; None: neither.
    """

    tools: list[Plain] | None = None
    beginning: str | None = None
    schema: Plain | None = None
    reader: Callable[[], Reader] = PlainReader


def plan_tools(body: ChatRequest) -> ToolPlan:
    """By tool_choice: nothing, a free choice, any tool at all, or a certain one."""
    tools, choice = body.tools or [], body.tool_choice or "auto"
    if not tools or choice == "none":
        return ToolPlan()
    told = [tool.model_dump(exclude_none=True) for tool in tools]
    if isinstance(choice, ChosenTool):
        return _one(told, next(tool for tool in tools if tool.function.name == choice.function.name))
    if choice == "required" and len(tools) == 1:
        return _one(told, tools[0])
    names = frozenset(tool.function.name for tool in tools)
    most = 1 if body.parallel_tool_calls is False else None
    if choice == "required":
        return ToolPlan(told, f"{OPENING}\n", _any_call(tools), lambda: CallReader(names, most=1))
    return ToolPlan(told, reader=lambda: CallReader(names, most=most))


def tell(messages: list[Plain], tools: list[Plain]) -> list[Plain]:
    """The messages with the tools described in the system message, for templates that know none."""
    told = "\n".join(json.dumps(tool["function"], ensure_ascii=False) for tool in tools)
    text = _INSTRUCTIONS.format(tools=told)
    if messages[0]["role"] == "system":
        return [messages[0] | {"content": f"{messages[0]['content']}\n\n{text}".strip()}, *messages[1:]]
    return [{"role": "system", "content": text}, *messages]


_INSTRUCTIONS = """\
You can call these tools:
{tools}
To call one, answer with nothing but
<tool_call>
{{"name": "NAME", "arguments": {{...}}}}
</tool_call>
and you will get its result. When no tool helps, answer as usual."""


def _one(told: list[Plain], tool: Tool) -> ToolPlan:
    name = tool.function.name
    beginning = f'{OPENING}\n{{"name": "{name}", "arguments": '
    return ToolPlan(told, beginning, _parameters(tool), lambda: ArgumentsReader(name))


def _parameters(tool: Tool) -> Plain:
    return {"type": "object"} | (tool.function.parameters or {})


def _any_call(tools: list[Tool]) -> Plain:
    calls = {}
    for place, tool in enumerate(tools):
        at = f"#/$defs/call{place}/properties/arguments"
        calls[f"call{place}"] = {
            "type": "object",
            "properties": {"name": {"const": tool.function.name}, "arguments": _moved(_parameters(tool), at)},
            "required": ["name", "arguments"],
        }
    return {"$defs": calls, "anyOf": [{"$ref": f"#/$defs/{name}"} for name in calls]}


def _moved(node: Any, at: str, levels: int = 32) -> Any:
    """A schema whose references within itself still hold when it stands at another place; deep ends are left out."""
    if isinstance(node, list):
        return [_moved(item, at, levels - 1) for item in node] if levels else []
    if not isinstance(node, dict):
        return node
    if not levels:
        return {}
    return {
        name: at + value[1:]
        if name == "$ref" and isinstance(value, str) and value.startswith("#")
        else _moved(value, at, levels - 1)
        for name, value in node.items()
    }
