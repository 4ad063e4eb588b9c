"""Footnotes, shown where they are defined and without ids, so that replies on one page cannot collide."""

import re
from collections.abc import Sequence

from markdown_it import MarkdownIt
from markdown_it.common.utils import escapeHtml
from markdown_it.renderer import RendererProtocol
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from mdit_py_plugins.footnote.index import footnote_def

_REFERENCE = re.compile(r"\[\^([^\s\]^]{1,40})\]")


def plugin(md: MarkdownIt) -> None:
    """Add `[^1]` and `[^1]: text`."""
    md.block.ruler.before("reference", "footnote_def", footnote_def, {"alt": ["paragraph", "reference"]})
    md.inline.ruler.before("link", "footnote_ref", _reference)
    md.add_render_rule("footnote_ref", _render_reference)
    md.add_render_rule("footnote_reference_open", _render_definition)
    md.add_render_rule("footnote_reference_close", lambda *_: "</div>\n")


def _reference(state: StateInline, silent: bool) -> bool:
    # A number is a footnote even before its text has been written. Other labels must be known: [^a-z] may be anything.
    found = _REFERENCE.match(state.src, state.pos, state.posMax)
    if not found or not (found[1].isdecimal() or f":{found[1]}" in state.env.get("footnotes", {}).get("refs", {})):
        return False
    if not silent:
        state.push("footnote_ref", "", 0).content = found[1]
    state.pos = found.end()
    return True


def _render_reference(
    _self: RendererProtocol, tokens: Sequence[Token], index: int, _options: OptionsDict, _env: EnvType
) -> str:
    return f'<sup class="footnote-ref">{escapeHtml(tokens[index].content)}</sup>'


def _render_definition(
    _self: RendererProtocol, tokens: Sequence[Token], index: int, _options: OptionsDict, _env: EnvType
) -> str:
    label = escapeHtml(tokens[index].meta["label"])
    return f'<div class="footnote"><span class="footnote-label">{label}</span>\n'
