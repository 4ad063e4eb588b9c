"""A text as a row of top-level blocks, each rendered and sanitised on its own, so that one bad block stays one."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from django.utils.safestring import SafeString, mark_safe
from markdown_it.common.utils import escapeHtml
from markdown_it.rules_block import StateBlock
from markdown_it.rules_core import StateCore
from markdown_it.token import Token

from chat.rendering import parser
from chat.rendering.budget import Budget, TooCostly
from chat.rendering.sanitizing import sanitize

# Beyond these a block is shown as its source. A table of many empty cells is what has many tokens.
MAX_INLINE_CHARACTERS = 16_000
MAX_TOKENS = 20_000
_BLANK_LINE = re.compile(r"\n[ \t]*(?=\n)")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_md = parser.build()


@dataclass(frozen=True)
class Block:
    """One top-level block: where it stands in the source, what it looks like, which links it defines."""

    start: int
    end: int
    html: str
    definitions: dict[str, Any]


@dataclass
class _Parsed:
    start: int
    end: int
    tokens: list[Token] | None  # None: show the source
    definitions: dict[str, Any] = field(default_factory=dict)


def render(markdown: str) -> SafeString:
    """The whole text as safe HTML, in less than about a second. Never raises."""
    html = "".join(block.html for block in render_blocks(normalize(markdown), {}))
    return mark_safe(html)  # each block has been sanitised or escaped


def normalize(text: str) -> str:
    r"""The text with `\n` alone between lines, and without what HTML cannot hold."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")
    return _SURROGATE.sub("\ufffd", text)


def render_blocks(source: str, definitions: dict[str, Any], footnotes: dict[str, Any] | None = None) -> list[Block]:
    """The blocks of normalised text, in order. `definitions` and `footnotes` are what earlier text has defined."""
    budget = Budget()
    env = {"budget": budget, "references": dict(definitions), "footnotes": footnotes or {}}
    parsed = list(_parse(source, env))  # all of them first: a link may be used before its address is given
    return [Block(piece.start, piece.end, _html(source, piece, env), piece.definitions) for piece in parsed]


def _parse(source: str, env: dict[str, Any]) -> Iterator[_Parsed]:
    budget, references = env["budget"], env["references"]
    state = StateBlock(source, _md, env, [])
    line = state.skipEmptyLines(0)
    while line < state.lineMax:
        start, num_known = state.bMarks[line], len(references)
        if budget.is_spent:
            yield _Parsed(start, len(source), None)
            return
        try:
            tokens = _parse_one(state, line)
            end = state.bMarks[state.line]
        except Exception:  # whatever a text makes the parser do, it is shown
            tokens, end = None, _next_blank_line(source, start)
            state = StateBlock(source, _md, env, [])  # the old one was left half-way
            state.line = state.bMarks.index(end)
        yield _Parsed(start, end, tokens, dict(islice(references.items(), num_known, None)))
        line = state.skipEmptyLines(state.line)


def _parse_one(state: StateBlock, line: int) -> list[Token]:
    """Parse the block that begins at the line; afterwards `state.line` is the line behind it."""
    state.env["budget"].begin_block()
    state.tokens, state.line, state.level = [], line, 0
    for rule in _md.block.ruler.getRules(""):
        if rule(state, line, state.lineMax, False):
            break
    return state.tokens


def _next_blank_line(source: str, start: int) -> int:
    found = _BLANK_LINE.search(source, start)
    return found.start() + 1 if found else len(source)


def _html(source: str, piece: _Parsed, env: dict[str, Any]) -> str:
    try:
        return _rendered(piece.tokens, env) if piece.tokens is not None else _plain(source, piece)
    except Exception:  # as above
        return _plain(source, piece)


def _rendered(tokens: list[Token], env: dict[str, Any]) -> str:
    if not tokens:
        return ""
    budget = env["budget"]
    if budget.is_spent or len(tokens) > MAX_TOKENS or any(map(_is_too_long, tokens)):
        raise TooCostly
    budget.begin_block()
    state = StateCore("", _md, env, tokens)
    _md.core.process(state)
    return sanitize(_md.renderer.render(state.tokens, _md.options, env))


def _is_too_long(token: Token) -> bool:
    return token.type == "inline" and len(token.content) > MAX_INLINE_CHARACTERS


def _plain(source: str, piece: _Parsed) -> str:
    return f'<pre class="plain">{escapeHtml(source[piece.start : piece.end].rstrip())}</pre>\n'
