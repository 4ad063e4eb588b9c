"""Code keeps every character, and has colours within limits."""

import re
from html import unescape

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chat.rendering import render
from chat.rendering.highlighting import _LEXERS, CLASSES, MAX_CHARACTERS, MAX_LINE_CHARACTERS, highlight

CODE = 'def f(x: int) -> str:\n    """Say."""\n    return "<b>" if x else None  # ok\n'


def _text(html):
    return unescape(re.sub(r"<[^>]*>", "", html))


def _classes(html):
    return set(re.findall(r'<span class="(\w+)">', html))


@settings(max_examples=100, deadline=None)
@given(
    st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\r\0"), max_size=60),
    st.sampled_from(sorted(_LEXERS)),
)
def test_highlighting_loses_nothing(code, language):
    html = highlight(code, language)
    assert _text(html) == code
    assert _classes(html) <= CLASSES


@pytest.mark.parametrize("language", ["python", "PY", "Python3"])
def test_known_languages_have_colours(language):
    assert {"k", "nf", "s", "c"} <= _classes(highlight(CODE, language))


@pytest.mark.parametrize("language", ["", "make", "java", "brainfuck", "<script>"])
def test_other_languages_have_none(language):
    assert not _classes(highlight(CODE, language))


@pytest.mark.parametrize("code", ["x = 1\n" * MAX_CHARACTERS, "x = " + "1" * MAX_LINE_CHARACTERS])
def test_too_long_code_has_none(code):
    assert not _classes(highlight(code, "python"))


def test_minified_json_on_one_line_is_shown_whole():
    json = '{"a":[1,2,3]},' * 400
    assert json in _text(render(f"```json\n{json}\n```"))


def test_copy_gives_the_code_alone():
    html = render(f"```python\n{CODE}\n```")
    head, code = html.split("<pre><code>")
    assert _text(head) == "pythonCopy"
    assert _text(code.split("</code></pre>")[0]) == CODE
    assert '<button type="button" class="code-copy">Copy</button>' in head


def test_the_language_is_text_and_short():
    assert '<span class="code-lang">&lt;b&gt;</span>' in render("```<b>\nx\n```")
    assert "a" * 31 not in render(f"```{'a' * 500}\nx\n```")


@pytest.mark.parametrize("text", ["```python\nx = 1\n", "- ```python\n  x = 1\n"])
def test_colours_come_when_the_fence_closes(text):
    assert "m" not in _classes(render(text))
    assert "m" in _classes(render(text + ("  " if text[0] == "-" else "") + "```"))
