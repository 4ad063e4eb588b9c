"""Task lists: list items that begin with `[ ]` or `[x]` get a box, which nobody can tick."""

import re
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.token import Token

_BOX = re.compile(r"\[([ xX])\]\s")


def plugin(md: MarkdownIt) -> None:
    """Add them. The plugin of mdit-py-plugins takes time that grows with the square of the list."""
    md.core.ruler.after("inline", "tasks", _tick)
    md.add_render_rule("task", lambda _self, tokens, index, *_: _box(tokens[index]))


def _tick(state: StateCore) -> None:
    item: Token | None = None
    for before, token in pairwise(state.tokens):
        if before.type == "list_item_open" and token.type == "paragraph_open":
            item = before
        elif item and before.type == "paragraph_open" and token.children and (found := _BOX.match(token.content)):
            item.attrSet("class", "task-list-item")
            token.children[0].content = token.children[0].content[len("[x]") :]
            token.children.insert(0, Token("task", "", 0, meta={"is_done": found[1] != " "}))
            item = None
        else:
            item = None


def _box(task: Token) -> str:
    return f'<input type="checkbox" disabled{" checked" if task.meta["is_done"] else ""}>'
