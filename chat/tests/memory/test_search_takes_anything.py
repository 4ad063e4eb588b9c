"""Any text can be asked for and indexed."""

import uuid

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from chat.memory import search, wanted
from chat.memory.windows import LENGTH, windows

texts = st.text(max_size=300) | st.lists(
    st.sampled_from(["NEAR", '"', "OR", "(", "*", "text:", "-", "^", "AND NOT", "狗叫", "é", "{a b}", "\0", "+", "'"])
).map(" ".join)


class AnyQuestion(TestCase):
    """Asks the real index."""

    @given(texts)
    @example('" OR conversation : "')
    def test_is_no_syntax_error(self, text):
        terms = wanted.terms(text)
        assert set(search.find(uuid.UUID(int=1), terms)) == set(terms)
        assert len(terms) <= wanted.MOST


@given(texts)
def test_windows_hold_the_whole_text_in_order(text):
    assert "".join("".join(windows(text)).split()) == "".join(text.split())


@pytest.mark.parametrize("text", ["word " * 3000, "x" * 9000, "One. " * 2000, "狗" * 5000, "line\n" * 1000])
def test_windows_are_short(text):
    assert max(map(len, windows(text))) <= 2 * LENGTH
    assert len(windows(text)) < 3 * len(text) / LENGTH
