"""No text takes longer than about a second; what would is shown as it is (case 18)."""

from time import thread_time

import pytest

from chat.rendering import RenderedStream, render
from chat.rendering.budget import Budget

# The machine that runs the tests may be slow, so twice what is promised is allowed.
SECONDS = 2.0
UNITS = [
    "[", "![", "[a](", "[](<", "*a ", "*_", "a**b*", "~~", "`a", "<", "<http://", "&", "\\", "\\(", "\\[\n",
    "$a", "$$\n",
    "\\begin{align}\n", "> ", "> a\n\n", "- ", "- [ ] a\n", "- a\n\n", "|", "# a\n", "===\n", "```\n",
    "```a\n\n", "[^1]", "[^a]: x\n",
    "[a]: b '", "http://", "a@a.", "a", "\n", "\t", "$x_1$\n\n", "[x](y", "<!--", "1. ", "\r", "\x00", "[![",
    "=", "`` ` ",
]  # fmt: skip


def _fill(unit, size):
    return (unit * (size // len(unit) + 1))[:size]


def _seconds(action):
    start = thread_time()
    action()
    return thread_time() - start


@pytest.mark.parametrize("unit", UNITS)
def test_32_kb_of_anything(unit):
    text = _fill(unit, 32 * 1024)
    assert _seconds(lambda: render(text)) < SECONDS


@pytest.mark.parametrize("unit", ["[", "*a ", "> a\n", "x\n\n", "$x_1$\n\n"])
def test_a_reply_of_200_kb(unit):
    text = _fill(unit, 200_000)
    assert _seconds(lambda: render(text)) < SECONDS


@pytest.mark.parametrize(
    "text",
    [
        "|" + "a|" * 3000 + "\n|" + "-|" * 3000 + "\n" + "|\n" * 3000,
        "|" + "a|" * 100 + "\n|" + "-|" * 100 + "\n" + "|\n" * 30_000,
    ],
)
def test_a_table_of_empty_cells(text):
    assert _seconds(lambda: render(text)) < SECONDS


@pytest.mark.parametrize("unit", ["[", "- a\n", "a ", "x = 1\n", "*a **b "])
def test_a_reply_that_arrives_in_thousands_of_parts(unit):
    stream, text = RenderedStream(), "```\n" * (unit == "x = 1\n") + _fill(unit, 32 * 1024)
    parts = [text[i : i + 8] for i in range(0, len(text), 8)]
    assert _seconds(lambda: [stream.push(part) for part in parts]) < 2 * SECONDS


@pytest.mark.parametrize(
    "text", [">" * 5000 + " end", "- " * 3000 + "end", "\n".join("  " * i + "- a" for i in range(170)) + "end"]
)
def test_what_is_nested_too_deeply_is_shown_as_text(text):
    html = render(text + "\n\nand *more*")
    assert html.startswith('<pre class="plain">')
    assert "end" in html
    assert html.endswith("<p>and <em>more</em></p>\n")


def test_ten_thousand_brackets_are_shown():
    assert render("[" * 10_000).count("[") == 10_000


def test_when_the_time_is_used_up_the_rest_is_plain_and_nothing_is_lost(monkeypatch):
    monkeypatch.setattr(Budget, "is_spent", True)
    assert render("*a* <b>\n\n*c*") == '<pre class="plain">*a* &lt;b&gt;\n\n*c*</pre>\n'


def test_a_parser_that_breaks_costs_one_block(monkeypatch):
    from chat.rendering import blocks

    process = blocks._md.core.process

    def break_on_bad(state):
        if any(token.content == "bad" for token in state.tokens):
            raise RecursionError
        process(state)

    monkeypatch.setattr(blocks._md.core, "process", break_on_bad)
    assert render("good\n\nbad\n\ngood") == '<p>good</p>\n<pre class="plain">bad</pre>\n<p>good</p>\n'


def test_an_open_end_that_costs_too_much_is_drawn_less_often(monkeypatch):
    monkeypatch.setattr("chat.rendering.stream.FREE_SECONDS", 0.001)
    monkeypatch.setattr("chat.rendering.stream.SECONDS_A_CHARACTER", 0.0)
    stream = RenderedStream()
    num_drawn = len({stream.push("a ").open for _ in range(200)})
    assert 3 < num_drawn < 100
    assert stream.finish().count("a") == 200
