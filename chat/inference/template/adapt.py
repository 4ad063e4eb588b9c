"""Ways to put a conversation that a template refuses into a form that it takes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

BLANK_LINE = "\n\n"
SILENCE = "…"  # a user's turn that says nothing, in no language, where a template insists that a user begins


@dataclass(frozen=True, slots=True)
class Call:
    """A tool that the model called: name and JSON text are placeholders, in `arguments` whatever might do harm is."""

    name: str
    arguments: Any
    json: str
    id: str = ""


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn as a template sees it: its contents are placeholders, several of them where turns were joined.

    A turn of role "tool" is what a call gave; `call_id` says which one.
    """

    role: str
    content: str
    reasoning: str = ""
    calls: tuple[Call, ...] = ()
    call_id: str = ""


Step = Callable[[list[Turn]], list[Turn]]


def join_systems(turns: list[Turn]) -> list[Turn]:
    """Join the system messages at the beginning into one, fold those further down into the turns of the user."""
    first_other = next((index for index, turn in enumerate(turns) if turn.role != "system"), len(turns))
    leading = turns[:first_other]
    joined = [Turn("system", _paragraphs(leading))] if leading else []
    return joined + fold_systems(turns[first_other:])


def fold_systems(turns: list[Turn]) -> list[Turn]:
    """Put each system message before the words of the user's turn that follows, or make it such a turn."""
    folded: list[Turn] = []
    waiting: list[Turn] = []
    for turn in turns:
        if turn.role == "system":
            waiting.append(turn)
        elif turn.role == "user":
            folded.append(replace(turn, content=_paragraphs([*waiting, turn])))
            waiting = []
        else:
            folded += _as_user(waiting)
            folded.append(turn)
            waiting = []
    return folded + _as_user(waiting)


def alternate(turns: list[Turn]) -> list[Turn]:
    """Join neighbours of one role, and let the user begin."""
    merged: list[Turn] = []
    for turn in turns:
        if merged and merged[-1].role == turn.role:
            merged[-1] = replace(turn, content=_paragraphs([merged[-1], turn]))
        else:
            merged.append(turn)
    start = 1 if merged and merged[0].role == "system" else 0
    if len(merged) == start or merged[start].role != "user":
        merged.insert(start, Turn("user", SILENCE))
    return merged


def spell_calls(turns: list[Turn]) -> list[Turn]:
    """Write calls of tools as text of the assistant, and what they gave as text of the user."""
    return [_spelled(turn) if turn.calls or turn.role == "tool" else turn for turn in turns]


NOTES: dict[Step, str] = {
    spell_calls: "calls of tools written as text",
    join_systems: "system messages joined into one at the beginning",
    fold_systems: "system message folded into the first user turn",
    alternate: "turns joined or added so that user and assistant alternate",
}

_ROLES_LADDER: tuple[tuple[Step, ...], ...] = (
    (),
    (join_systems,),
    (alternate,),
    (join_systems, alternate),
    (fold_systems,),
    (fold_systems, alternate),
)
# What is tried in turn, the gentlest first.
LADDER: tuple[tuple[Step, ...], ...] = (*_ROLES_LADDER, *((spell_calls, *steps) for steps in _ROLES_LADDER))


def shape(turns: list[Turn]) -> tuple[bool, ...]:
    """What about a conversation can make a template refuse it; the same shape needs the same steps."""
    roles = [turn.role for turn in turns]
    spoken = [role for role in roles if role != "system"]
    return (
        "system" in roles,
        "system" in roles[1:],
        any(one == other for one, other in pairwise(spoken)),
        spoken[:1] != ["user"],
        "tool" in roles or any(turn.calls for turn in turns),
    )


def _paragraphs(turns: Iterable[Turn]) -> str:
    return BLANK_LINE.join(turn.content for turn in turns)


def _as_user(systems: list[Turn]) -> list[Turn]:
    return [Turn("user", _paragraphs(systems))] if systems else []


def _spelled(turn: Turn) -> Turn:
    if turn.role == "tool":
        return Turn("user", f"<tool_response>\n{turn.content}\n</tool_response>")
    calls = [f'<tool_call>\n{{"name": "{call.name}", "arguments": {call.json}}}\n</tool_call>' for call in turn.calls]
    return replace(turn, content="\n".join([turn.content, *calls] if turn.content else calls), calls=())
