"""Colours for code by Pygments: classes of a few kinds of words, for static/css/highlight.css."""

from collections.abc import Iterator
from functools import lru_cache
from itertools import groupby
from time import thread_time

from markdown_it.common.utils import escapeHtml
from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.token import STANDARD_TYPES, _TokenType

# Some lexers take time that grows with the square of the code or worse, so all have to fit into these.
MAX_CHARACTERS = 8000
MAX_LINE_CHARACTERS = 1000
SECONDS = 0.1

# Kinds of words that have a colour; the others look like the nearest kind above them.
CLASSES = frozenset(
    ("c", "cp", "gd", "gh", "gi", "k", "kc", "kt", "m", "na", "nb", "nc", "nd", "nf", "nt", "nv", "o", "s", "se")
)

# Names that people and models write, and the lexer that each means.
_LEXERS = {
    **dict.fromkeys(("bash", "sh", "shell", "zsh"), "bash"),
    **dict.fromkeys(("c", "h"), "c"),
    **dict.fromkeys(("console", "shell-session", "shellsession"), "console"),
    **dict.fromkeys(("cpp", "c++", "cc", "hpp"), "cpp"),
    **dict.fromkeys(("csharp", "c#", "cs"), "csharp"),
    **dict.fromkeys(("diff", "patch"), "diff"),
    **dict.fromkeys(("dockerfile", "docker"), "docker"),
    **dict.fromkeys(("go", "golang"), "go"),
    **dict.fromkeys(("ini", "cfg", "conf"), "ini"),
    **dict.fromkeys(("javascript", "js", "jsx", "mjs"), "javascript"),
    **dict.fromkeys(("json", "jsonc"), "json"),
    **dict.fromkeys(("kotlin", "kt"), "kotlin"),
    **dict.fromkeys(("powershell", "ps1"), "powershell"),
    **dict.fromkeys(("python", "py", "python3"), "python"),
    **dict.fromkeys(("ruby", "rb"), "ruby"),
    **dict.fromkeys(("rust", "rs"), "rust"),
    **dict.fromkeys(("typescript", "ts", "tsx"), "typescript"),
    **dict.fromkeys(("xml", "svg"), "xml"),
    **dict.fromkeys(("yaml", "yml"), "yaml"),
    **{name: name for name in ("css", "html", "lua", "php", "r", "scala", "sql", "swift", "toml")},
}


@lru_cache(maxsize=64)
def highlight(code: str, language: str) -> str:
    """The code as HTML, in colours if the language is known and the code within the limits; always escaped."""
    name = _LEXERS.get(language.lower())
    if name is None or len(code) > MAX_CHARACTERS or max(map(len, code.split("\n"))) > MAX_LINE_CHARACTERS:
        return escapeHtml(code)
    try:
        return "".join(_spans(code, _lexer(name)))
    except Exception:  # colours are never worth a reply
        return escapeHtml(code)


@lru_cache
def _lexer(name: str) -> Lexer:
    return get_lexer_by_name(name)


def _spans(code: str, lexer: Lexer) -> Iterator[str]:
    # get_tokens_unprocessed, as get_tokens would strip empty lines, which belong to the code. A lexer may count on a
    # last line that ends.
    words = [(_class(kind), word) for _, kind, word in _in_time(lexer.get_tokens_unprocessed(code + "\n"))]
    if "".join(word for _, word in words) != code + "\n":
        raise ValueError("the lexer has lost something")
    words[-1] = (words[-1][0], words[-1][1].removesuffix("\n"))
    for name, group in groupby(words, key=lambda pair: pair[0]):
        text = escapeHtml("".join(word for _, word in group))
        yield f'<span class="{name}">{text}</span>' if name else text


def _in_time(words: Iterator[tuple[int, _TokenType, str]]) -> Iterator[tuple[int, _TokenType, str]]:
    end = thread_time() + SECONDS
    for number, word in enumerate(words):
        if number % 8 == 0 and thread_time() > end:
            raise TimeoutError
        yield word


@lru_cache
def _class(kind: _TokenType) -> str:
    while (name := STANDARD_TYPES.get(kind, "")) not in CLASSES:
        if kind.parent is None:
            return ""
        kind = kind.parent
    return name
