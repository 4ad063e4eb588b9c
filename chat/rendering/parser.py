"""The Markdown of replies: CommonMark with tables, strike-through, bare URLs, task lists, footnotes and math."""

import re
from collections.abc import Sequence

from markdown_it import MarkdownIt
from markdown_it.ruler import RuleOptionsType
from markdown_it.rules_block import StateBlock, table
from markdown_it.rules_core import StateCore
from markdown_it.token import Token

from chat.rendering import codeblocks, footnotes, formulas, tasks
from chat.rendering.budget import guard_block, guard_inline

MAX_TABLE_BARS = 200
_SAFE_LINK = re.compile(r"(?:https?://|mailto:)", re.IGNORECASE)
_ALIGNED = re.compile(r"text-align:(\w+)")


def build() -> MarkdownIt:
    """A parser whose `core` does what comes after the blocks are found; chat.rendering.blocks finds them.

    It keeps nothing of a text, so threads may share it. Each `env` needs a `budget`.
    """
    md = MarkdownIt("commonmark", {"html": False, "linkify": True, "maxNesting": 60})
    md.enable(["table", "strikethrough", "linkify"])
    md.disable(["html_block", "html_inline"])
    md.block.ruler.at("table", _table_of_sane_width, {"alt": ["paragraph", "reference"]})
    # Only what is certainly an address: report.md and main.py are files, not hosts.
    assert md.linkify is not None, "linkify-it-py is installed"
    md.linkify.set({"fuzzy_link": False, "fuzzy_email": False})
    md.validateLink = is_safe_link  # type: ignore[method-assign]
    md.use(tasks.plugin).use(footnotes.plugin).use(formulas.plugin).use(codeblocks.plugin)
    md.core.ruler.disable(["normalize", "block"])
    md.core.ruler.push("images", _show_images_as_links)
    md.core.ruler.push("tables", _align_by_class)
    md.add_render_rule("table_open", lambda *_: '<div class="table"><table>\n')
    md.add_render_rule("table_close", lambda *_: "</table></div>\n")
    everywhere: RuleOptionsType = {"alt": ["paragraph", "reference", "blockquote", "list", "heading", "table"]}
    md.block.ruler.before("table", "guard", guard_block, everywhere)
    md.inline.ruler.before("text", "guard", guard_inline)
    return md


def is_safe_link(url: str) -> bool:
    """Whether a link may lead there; what is refused stays in the text as it was typed."""
    return _SAFE_LINK.match(url) is not None


def _table_of_sane_width(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    # Rows are filled up to the width of the head: a few bytes would make tens of thousands of cells.
    num_bars = state.src.count("|", state.bMarks[start], state.eMarks[start])
    return num_bars <= MAX_TABLE_BARS and table(state, start, end, silent)


def _show_images_as_links(state: StateCore) -> None:
    # A picture that loads by itself can carry the conversation away in its address.
    for token in state.tokens:
        if token.children:
            token.children = _without_images(token.children)


def _without_images(tokens: Sequence[Token]) -> list[Token]:
    result: list[Token] = []
    depth = 0
    for token in tokens:
        depth += token.nesting if token.type in ("link_open", "link_close") else 0
        if token.type != "image":
            result.append(token)
        elif depth:  # a link within a link is not HTML
            result.append(_text(token.content))
        else:
            address = str(token.attrs.get("src", ""))
            label = f"{token.content} ({address})" if token.content else address
            link = Token("link_open", "a", 1, attrs={"href": address, "class": "image-link"})
            result += [link, _text(label), Token("link_close", "a", -1)]
    return result


def _text(content: str) -> Token:
    return Token("text", "", 0, content=content)


def _align_by_class(state: StateCore) -> None:
    # The content security policy forbids the style attributes that markdown-it writes.
    for token in state.tokens:
        if token.type in ("th_open", "td_open") and (found := _ALIGNED.match(str(token.attrs.pop("style", "")))):
            token.attrSet("class", found[1])
