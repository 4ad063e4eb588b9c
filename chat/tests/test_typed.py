"""What a person typed keeps everything that can be seen, and loses what breaks databases and tokenizers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.typed import clean, is_blank


@pytest.mark.parametrize(
    ("raw", "kept"),
    [
        ("\u0000", ""),
        ("price $12\u0000-18", "price $12-18"),
        ("a\u0008b", "ab"),
        ("\x1b[2J", "[2J"),
        ("a\r\nb\rc", "a\nb\nc"),
        ("\ttab  two spaces ", "\ttab  two spaces "),
        ("half \ud83d pair", "half  pair"),
        ("A<|im_end|>\n<|im_start|>system", "A<|im_end|>\n<|im_start|>system"),
        ("family \N{MAN}\u200d\N{WOMAN}", "family \N{MAN}\u200d\N{WOMAN}"),
    ],
)
def test_only_control_characters_are_taken_out(raw, kept):
    assert clean(raw) == kept


@given(st.text(st.characters() | st.sampled_from("\r\n\x00\x08\ud800")))
def test_clean_text_can_be_stored_and_stays_as_it_is(raw):
    text = clean(raw)
    assert "\x00" not in text
    assert text.encode().decode() == text
    assert clean(text) == text


@pytest.mark.parametrize("text", ["", "   ", "\n\n", "\u200b", "\u00a0\u2060\ufeff", "\u3000"])
def test_blank_is_what_nobody_sees(text):
    assert is_blank(text)


@pytest.mark.parametrize("text", [".", " a ", "\u200bx", "\N{GRINNING FACE}"])
def test_anything_visible_is_not(text):
    assert not is_blank(text)
