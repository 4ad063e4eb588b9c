"""What is meant as text is seen as text (cases 1, 14, 15, 17)."""

import pytest

from chat.rendering import RenderedStream, render


def test_an_emoji_that_arrives_in_two_parts_is_whole():
    family = "\N{MAN}\u200d\N{WOMAN}\u200d\N{GIRL}"
    stream = RenderedStream()
    stream.push(family[:2])
    assert stream.push(family[2:]).open == f"<p>{family}</p>\n"


@pytest.mark.parametrize("text", ["(~50) and (~45)", "20~25°C", "~a~"])
def test_a_single_tilde_strikes_nothing(text):
    assert render(text) == f"<p>{text}</p>\n"


def test_two_tildes_strike():
    assert render("~~gone~~") == "<p><s>gone</s></p>\n"


@pytest.mark.parametrize("text", ["<h1>AAA</h1>", "use <exact lines>", "Promise<void>", "a < b && c > d"])
def test_markup_is_escaped_once(text):
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    assert render(text) == f"<p>{escaped}</p>\n"


def test_a_file_name_is_not_an_address():
    assert render("see main.py and README.md") == "<p>see main.py and README.md</p>\n"


def test_an_address_becomes_a_link():
    assert render("see https://example.org/a.").count('href="https://example.org/a"') == 1


def test_a_wide_table_is_in_a_box_that_scrolls():
    html = render("|" + "a|" * 30 + "\n|" + ":-:|" * 30 + "\n|" + "1|" * 30)
    assert html.startswith('<div class="table"><table>')
    assert html.count('<td class="center">') == 30


def test_task_lists_have_boxes_that_cannot_be_ticked():
    html = render("- [ ] one\n- [x] two")
    assert html.count('<input type="checkbox" disabled=""') == 2
    assert html.count("checked") == 1


def test_footnotes_stay_where_they_are_and_have_no_ids():
    html = render("Water[^1] is wet[^why].\n\n[^1]: H2O\n[^why]: It *is*.")
    assert '<sup class="footnote-ref">1</sup>' in html
    assert '<sup class="footnote-ref">why</sup>' in html
    assert '<div class="footnote"><span class="footnote-label">1</span>\n<p>H2O</p>' in html
    assert "id=" not in html
    assert "[^a-z]" in render("the class [^a-z]")


def test_nul_and_lone_surrogates_are_replaced():
    assert render("a\0b\ud800c") == "<p>a\ufffdb\ufffdc</p>\n"


@pytest.mark.parametrize("text", ["", " \n\n", "[a]: https://example.org"])
def test_nothing_to_see(text):
    assert render(text) == ""
