"""What a template does, found in its source and by rendering small conversations with it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from jinja2 import meta, nodes

from chat.inference.template.sandbox import Refused

SWITCHES = ("enable_thinking", "thinking")

REASONING_MARKERS = (
    ("<think>", "</think>"),
    ("[THINK]", "[/THINK]"),
    ("<|channel>thought\n", "<channel|>"),
    ("<seed:think>", "</seed:think>"),
    ("<thinking>", "</thinking>"),
    ("<reasoning>", "</reasoning>"),
    ("◁think▷", "◁/think▷"),
)

Message = Mapping[str, Any]
Probe = Callable[[list[Message], bool], str]  # messages, and whether to add the generation prompt

_WORD = "Zqprobe"
_BLANK = "\n \n"
_MARKER = re.compile(r"<[^<>\s]+>|\[/?[A-Z_]+\]")
_USER: Message = {"role": "user", "content": "Zquser"}


@dataclass(frozen=True, slots=True)
class Trim:
    """What a template strips from a content, as str.lstrip and rstrip take it: "" nothing, None all white space."""

    start: str | None = ""
    end: str | None = ""

    def apply(self, text: str) -> str:
        """The text as the template would leave it."""
        return text.lstrip(self.start).rstrip(self.end)


def find_switches(tree: nodes.Template) -> frozenset[str]:
    """The variables by which a template is told to let the model think or not."""
    return frozenset(meta.find_undeclared_variables(tree).intersection(SWITCHES))


def find_reasoning(source: str) -> tuple[str, str] | None:
    """The markers around a model's reasoning that a template speaks of, else None."""
    written = source.replace("\\n", "\n")
    return next((pair for pair in REASONING_MARKERS if pair[0] in written or pair[1] in written), None)


def find_trim(probe: Probe, role: str) -> Trim:
    """What the template strips from the contents of a role; nothing when it refuses the role."""
    before: list[Message] = [_USER] if role == "assistant" else []
    after: list[Message] = [] if role == "user" else [_USER]
    rendered = []
    for content in (_WORD, _BLANK + _WORD + _BLANK):
        try:
            text = probe([*before, {"role": role, "content": content}, *after], True)
        except Refused:
            return Trim()
        if _WORD not in text:
            return Trim()
        rendered.append(text.partition(_WORD))
    (start, _, end), (blank_start, _, blank_end) = rendered
    return Trim(_stripped(len(blank_start) - len(start)), _stripped(len(blank_end) - len(end)))


def find_turn_end(probe: Probe, eos: str) -> str:
    """The marker that the template puts behind an assistant's content, "" if there is none."""
    try:
        text = probe([_USER, {"role": "assistant", "content": _WORD}], False)
    except Refused:
        return ""
    tail = text.rpartition(_WORD)[2].lstrip() if _WORD in text else ""
    if eos and tail.startswith(eos):
        return eos
    marker = _MARKER.match(tail)
    return marker.group() if marker else ""


def wants_parts(probe: Probe) -> bool:
    """Whether the template takes a content only as a list of parts, not as a string."""
    return not _shows(probe, _WORD) and _shows(probe, [{"type": "text", "text": _WORD}])


def _shows(probe: Probe, content: object) -> bool:
    try:
        return _WORD in probe([{"role": "user", "content": content}], True)
    except Refused:
        return False


def _stripped(kept: int) -> str | None:
    """From how much of _BLANK was kept: all of it, none, or what stands within the outer new line."""
    return {0: None, len(_BLANK) - 1: "\n"}.get(kept, "")
