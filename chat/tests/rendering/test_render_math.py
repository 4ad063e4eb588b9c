"""Formulas are math when complete and source when not (case 13)."""

import pytest

from chat.rendering import render
from chat.rendering.mathml import to_mathml


@pytest.mark.parametrize(
    "text", ["$x$", r"\(x\)", "$$x$$", "$$\nx\n$$", r"\[ a" + "\nb \\]", "- a\n\n  $$\n  x\n  $$", "> $$\n> x\n> $$"]
)
def test_complete_formulas_are_math(text):
    html = render(text)
    assert html.count("<math ") == 1
    assert "$" not in html


@pytest.mark.parametrize("text", ["$$\nx + y", r"\[ a", "\\begin{align}\na"])
def test_open_blocks_are_source_up_to_the_next_blank_line(text):
    html = render(text + "\n\nmore *text*")
    assert html == f'<p class="math-source">{text}</p>\n<p>more <em>text</em></p>\n'


@pytest.mark.parametrize("text", ["$x", r"\(x", r"a \[ x", "costs $5 and $10", "$HOME and $PATH", "US$5 or A$5"])
def test_what_is_no_formula_is_shown_as_typed(text):
    assert render(text) == f"<p>{text}</p>\n"


@pytest.mark.parametrize("tex", [r"\frac{", "x^2^2", "{" * 3000, r"\sqrt{" * 400, r"\def\a{\a\a}\a", "x" * 5000])
def test_what_is_not_understood_is_shown_as_source(tex):
    assert to_mathml(tex, display=False) is None
    assert "<math " not in render(f"${tex}$")


def test_signs_in_a_formula_are_escaped_once():
    assert "<mo>&lt;</mo>" in render("$x < y$")
    assert "<mtext>&lt;b&gt;</mtext>" in render(r"$\text{<b>}$")


def test_text_behind_a_formula_goes_on():
    assert render("$$\nx\n$$ where *x* is").endswith("<p>where <em>x</em> is</p>\n")


def test_aligned_equations_are_a_table():
    assert render("\\begin{align}\na &= b \\\\\nc &= d\n\\end{align}").count("<mtr>") == 2
