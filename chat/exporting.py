"""A conversation as a file: Markdown of the branch that is shown, to read, or JSON of everything, to keep."""

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator

from markdown_it import MarkdownIt
from markdown_it.token import Token

from chat.models import Conversation, Message, Summary
from chat.rendering.budget import Budget, TooCostly, guard_block, guard_inline
from chat.rendering.parser import is_safe_link

FORMAT = "chat-conversation"
VERSION = 1
_FORBIDDEN_IN_NAMES = re.compile(r'[\s/\\:*?"<>|%]+')
_DEVICES = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)", re.IGNORECASE)
_MARKUP = re.compile(r"([\\`*_\[\]<>&#!|~])")
_FENCES = re.compile(r"`{3,}")
_MEANT = {
    Message.Status.STOPPED: "stopped",
    Message.Status.INTERRUPTED: "interrupted",
    Message.Status.FAILED: "failed",
    Message.Status.FORGOTTEN: "forgotten",
}


def filename(title: str, ending: str) -> str:
    """A name that every system takes for a file, at most 80 characters and the ending."""
    seen = "".join(char for char in unicodedata.normalize("NFC", title) if unicodedata.category(char)[0] != "C")
    name = _FORBIDDEN_IN_NAMES.sub(" ", seen)[:80].strip(" .")
    return f"{'conversation ' * bool(_DEVICES.match(name))}{name or 'conversation'}.{ending}"


def as_json(conversation: Conversation) -> str:
    """Every message of every branch and the summaries, as JSON (docs/api.md)."""
    whole = {
        "format": FORMAT,
        "version": VERSION,
        "conversation": {
            "id": conversation.pk,
            "title": conversation.title,
            "system_prompt": conversation.system_prompt,
            "head": conversation.head_id,
            "created_at": conversation.created_at.isoformat(),
            "updated_at": conversation.updated_at.isoformat(),
        },
        "messages": [_message(row) for row in conversation.messages.defer("token_ids")],
        "summaries": [_summary(row) for row in conversation.summaries.all()],
    }
    return json.dumps(whole, default=str, ensure_ascii=False, indent=2) + "\n"


def as_markdown(conversation: Conversation) -> str:
    """The branch that is shown; what people typed stands as typed, and nothing in it runs or loads anything."""
    parts = [f"# {_escaped(str(conversation))}", f"Begun on {conversation.created_at:%Y-%m-%d at %H:%M} UTC."]
    for message in conversation.branch():
        parts += _said(message)
    return "\n\n".join(parts) + "\n"


def _message(row: Message) -> dict[str, object]:
    names = ("id", "role", "status", "text", "reasoning", "error", "model", "usage", "client_id")
    times = {
        "created_at": row.created_at.isoformat(),
        "finished_at": row.finished_at.isoformat() if row.finished_at else None,
    }
    return {"parent": row.parent_id} | {name: getattr(row, name) for name in names} | times


def _summary(row: Summary) -> dict[str, object]:
    return {
        "covers_until": row.covers_until_id,
        "text": row.text,
        "author": row.author,
        "model": row.model,
        "created_at": row.created_at.isoformat(),
    }


def _said(message: Message) -> Iterator[str]:
    if message.role == Message.Role.USER:
        yield "## Person"
        yield "*(forgotten)*" if message.status == Message.Status.FORGOTTEN else _fenced(message.text)
        return
    yield f"## {_escaped(message.model) or 'Assistant'}"
    if message.text.strip():
        yield _inert(message.text)
    if note := _MEANT.get(Message.Status(message.status)):
        yield f"*({note}{': ' * bool(message.error)}{_escaped(message.error)})*"


def _escaped(text: str) -> str:
    """A text as itself in a line of Markdown."""
    return _MARKUP.sub(r"\\\1", " ".join(text.split()))


def _fenced(text: str) -> str:
    """A text as it stands, in a fence that nothing in it can close."""
    longest = max((len(run) for run in _FENCES.findall(text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}\n{text}\n{fence}"


def _inert(markdown: str) -> str:
    """A reply's Markdown without what another program might run or load: HTML, pictures, links to scripts.

    Nearly always that is the reply as it is. Else HTML and pictures are escaped outside of code, as our own pages show
    them, and what still is not harmless becomes a block of plain text.
    """
    try:
        tokens = _parse(markdown)
        if _is_harmless(tokens):
            return markdown
        tamed = _tamed(markdown, tokens)
        return tamed if _is_harmless(_parse(tamed)) else _fenced(markdown)
    except TooCostly:
        return _fenced(markdown)


def _parse(markdown: str) -> list[Token]:
    return _parser.parse(markdown, {"budget": Budget()})


def _is_harmless(tokens: Iterable[Token]) -> bool:
    for token in tokens:
        if token.type in {"html_block", "html_inline", "image"}:
            return False
        if token.type == "link_open" and not is_safe_link(str(token.attrs.get("href", ""))):
            return False
        if token.children and not _is_harmless(token.children):
            return False
    return True


def _tamed(markdown: str, tokens: Iterable[Token]) -> str:
    code = {
        line for token in tokens if token.type in {"fence", "code_block"} and token.map for line in range(*token.map)
    }
    lines = markdown.split("\n")
    return "\n".join(
        line if number in code else line.replace("<", "&lt;").replace("![", "&#33;[")
        for number, line in enumerate(lines)
    )


def _build() -> MarkdownIt:
    """A parser that recognises whatever some other program might: HTML, and links of every kind."""
    md = MarkdownIt("commonmark", {"html": True, "maxNesting": 60}).enable(["table", "strikethrough"])
    md.validateLink = lambda url: True  # type: ignore[method-assign]  # noqa: ARG005
    everywhere = ["paragraph", "reference", "blockquote", "list", "heading", "table"]
    md.block.ruler.before("table", "guard", guard_block, {"alt": everywhere})
    md.inline.ruler.before("text", "guard", guard_inline)
    return md


_parser = _build()
