"""Blocks of code: a head with the language and a Copy button, and the code in colours."""

from collections.abc import Sequence

from markdown_it import MarkdownIt
from markdown_it.common.utils import escapeHtml, unescapeAll
from markdown_it.renderer import RendererProtocol
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

from chat.rendering.highlighting import highlight

_MAX_LANGUAGE_CHARACTERS = 30


def plugin(md: MarkdownIt) -> None:
    """Show both kinds of code blocks our way."""
    md.add_render_rule("fence", _render_fence)
    md.add_render_rule("code_block", _render_indented)


def _render_fence(
    _self: RendererProtocol, tokens: Sequence[Token], index: int, _options: OptionsDict, env: EnvType
) -> str:
    env["budget"].check()
    token = tokens[index]
    language = (unescapeAll(token.info).split() or [""])[0][:_MAX_LANGUAGE_CHARACTERS]
    code = token.content.removesuffix("\n")
    # While it is being written it would have to be coloured anew with every word.
    return _block(language, highlight(code, language) if _is_closed(token) else escapeHtml(code))


def _render_indented(
    _self: RendererProtocol, tokens: Sequence[Token], index: int, _options: OptionsDict, _env: EnvType
) -> str:
    return _block("", escapeHtml(tokens[index].content.removesuffix("\n")))


def _is_closed(fence: Token) -> bool:
    num_lines = fence.content.count("\n") + (fence.content[-1:] not in ("", "\n"))
    return fence.map is not None and fence.map[1] - fence.map[0] == num_lines + 2


def _block(language: str, code: str) -> str:
    return (
        f'<div class="code"><div class="code-head"><span class="code-lang">{escapeHtml(language) or "text"}</span>'
        '<button type="button" class="code-copy">Copy</button></div>'
        f"<pre><code>{code}</code></pre></div>\n"
    )
