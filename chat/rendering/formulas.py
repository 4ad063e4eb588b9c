r"""Math in a reply: `$x$`, `\(x\)`, `$$x$$`, `\[x\]` and the environments of amsmath, found and shown as MathML."""

import re
from collections.abc import Sequence

from markdown_it import MarkdownIt
from markdown_it.common.utils import escapeHtml
from markdown_it.renderer import RendererProtocol
from markdown_it.ruler import RuleOptionsType
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

from chat.rendering.mathml import to_mathml

_ENVIRONMENT = r"(?:align|alignat|cases|equation|flalign|gather|matrix|[bpvBV]matrix|multline|split)\*?"
_BLOCK = re.compile(rf"(?P<dollars>\$\$(?!\$))|(?P<bracket>\\\[)|\\begin\{{(?P<environment>{_ENVIRONMENT})\}}")
# Each stops at the next opener, so that a text full of openers is read once.
_INLINE = (
    (re.compile(r"\$\$(?!\$)((?:[^$\\]|\\[\s\S])+)\$\$"), True),
    (re.compile(r"\$(?![\s$])((?:[^$\\]|\\[\s\S])+)(?<!\s)\$(?![\w$])"), False),
    (re.compile(r"\\\(((?:[^\\]|\\[^()\[\]])+)\\\)"), False),
    (re.compile(r"\\\[((?:[^\\]|\\[^()\[\]])+)\\\]"), True),
)
_LITERAL = ("\\(", "\\)", "\\[", "\\]")


def plugin(md: MarkdownIt) -> None:
    """Add the rules that find math and the ones that show it."""
    alternatives: RuleOptionsType = {"alt": ["paragraph", "reference", "blockquote", "list"]}
    md.block.ruler.before("table", "formula_block", _block, alternatives)
    md.inline.ruler.before("escape", "formula", _inline)
    md.add_render_rule("formula_block", _render_block)
    md.add_render_rule("formula", _render_inline)


def _block(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Take the lines from an opener to its end or, as in TeX, to the next blank line.

    Lines that are not closed yet are taken too and shown as source: what comes before them is then settled, whatever
    arrives later.
    """
    if state.is_code_block(start):
        return False
    first, first_end = state.bMarks[start] + state.tShift[start], state.eMarks[start]
    opener = _BLOCK.match(state.src, first, first_end)
    if not opener:
        return False
    closer = _closer(opener)
    closed_at = state.src.find(closer, opener.end(), first_end)
    if closed_at >= 0 and state.src[closed_at + len(closer) : first_end].strip():
        return False  # a sentence that begins with a formula
    if not silent:
        _push(state, start, _last_line(state, start, end, closer, opener.end()), opener, closer)
    return True


def _closer(opener: re.Match[str]) -> str:
    if opener["dollars"]:
        return "$$"
    return r"\]" if opener["bracket"] else f"\\end{{{opener['environment']}}}"


def _last_line(state: StateBlock, start: int, end: int, closer: str, after: int) -> int:
    """The number of the line after the formula's last one."""
    for line in range(start, end):
        if line > start and (state.isEmpty(line) or state.sCount[line] < state.blkIndent):
            return line
        if state.src.find(closer, max(after, state.bMarks[line]), state.eMarks[line]) >= 0:
            return line + 1
    return end


def _push(state: StateBlock, start: int, stop: int, opener: re.Match[str], closer: str) -> None:
    source = state.getLines(start, stop, state.blkIndent, False).strip()
    closed_at = source.find(closer, len(opener[0]))
    stop_at = closed_at + len(closer) if closed_at >= 0 else len(source)
    token = state.push("formula_block", "", 0)
    token.map = [start, stop]
    token.markup = source[:stop_at]
    if closed_at >= 0:
        token.content = token.markup if opener["environment"] else source[len(opener[0]) : closed_at]
    if rest := source[stop_at:].strip():
        state.push("paragraph_open", "p", 1).map = [stop - 1, stop]
        text = state.push("inline", "", 0)
        text.content, text.map, text.children = rest, [stop - 1, stop], []
        state.push("paragraph_close", "p", -1)
    state.line = stop


def _inline(state: StateInline, silent: bool) -> bool:
    source, position = state.src, state.pos
    if source[position] not in "$\\":
        return False
    for pattern, display in _INLINE:
        found = pattern.match(source, position, state.posMax)
        if found and not (source[position] == "$" and position and source[position - 1].isalnum()):
            if not silent:
                token = state.push("formula", "", 0)
                token.content, token.markup, token.meta = found[1], found[0], {"display": display}
            state.pos = found.end()
            return True
    if source.startswith(_LITERAL, position):  # not math (yet): the backslash stays to be seen
        if not silent:
            state.pending += source[position : position + 2]
        state.pos += 2
        return True
    return False


def _render_block(
    _self: RendererProtocol, tokens: Sequence[Token], index: int, _options: OptionsDict, env: EnvType
) -> str:
    env["budget"].check()
    token = tokens[index]
    mathml = to_mathml(token.content, display=True) if token.content.strip() else None
    if mathml:
        return f'<div class="math">{mathml}</div>\n'
    return f'<p class="math-source">{escapeHtml(token.markup)}</p>\n'


def _render_inline(
    _self: RendererProtocol, tokens: Sequence[Token], index: int, _options: OptionsDict, env: EnvType
) -> str:
    env["budget"].check()
    token = tokens[index]
    source = f'<span class="math-source">{escapeHtml(token.markup)}</span>'
    return to_mathml(token.content, display=token.meta["display"]) or source
