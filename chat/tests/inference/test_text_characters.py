"""A character reaches people whole, however its bytes are cut into tokens (cases 1 and 2)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.inference.text import EndMarkers, TextAssembler


def assemble(pieces, stop=(), ends=()):
    assembler = TextAssembler(stop=stop, end_markers=EndMarkers(ends))
    shown = [assembler.push(piece).text for piece in pieces]
    return [*shown, assembler.finish().text], assembler


@pytest.mark.parametrize("text", ["😀", "👨‍👩‍👧‍👦", "🇫🇷🇩🇪", "é語한", "a😀b"])
def test_every_cut_of_a_character_gives_it_whole(text):
    raw = text.encode()
    for cut in range(len(raw) + 1):
        shown, assembler = assemble([raw[:cut], raw[cut:]])
        assert "".join(shown) == text
        assert "�" not in "".join(shown)
        assert assembler.is_exact


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"])), st.data())
def test_any_cutting_gives_the_same_text(text, data):
    raw = text.encode()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(raw)), max_size=8)))
    pieces = [raw[start:end] for start, end in zip([0, *cuts], [*cuts, len(raw)], strict=True)]
    assert "".join(assemble(pieces)[0]) == text


def test_bytes_that_never_become_a_character_are_dropped():
    shown, assembler = assemble([b"ok ", b"\xe6\xad"])
    assert "".join(shown) == "ok "
    assert not assembler.is_exact


def test_bytes_that_cannot_be_a_character_are_replaced_once():
    assert "".join(assemble([b"a", b"\xff", b"b"])[0]) == "a�b"


def test_control_characters_of_the_model_are_left_out():
    assert "".join(assemble([b"a\x00b\x1b[31m\tc\n"])[0]) == "ab[31m\tc\n"


def test_a_very_long_piece_comes_through_whole():
    text = "x" * 200_000
    assert "".join(assemble([text.encode()], ends=("<|im_end|>",))[0]) == text
