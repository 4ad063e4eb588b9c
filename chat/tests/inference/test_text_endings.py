"""Where a reply ends: stop strings over token borders, and end markers that arrive as ordinary text (case 4)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.inference.text import EndMarkers, StopStrings, TextAssembler

END, START = "<|im_end|>", "<|im_start|>"


def stream(pieces, *, stop=(), ends=(END,), starts=(START,)):
    """What is shown of a reply, and whether it ended by itself."""
    assembler = TextAssembler(stop=stop, end_markers=EndMarkers(ends, starts))
    shown = ""
    for piece in pieces:
        got = assembler.push(piece.encode())
        shown += got.text
        if got.ended:
            return shown + assembler.finish().text, True
    return shown + assembler.finish().text, False


@pytest.mark.parametrize("pieces", [["one STOP two"], ["one ST", "OP two"], list("one STOP two")])
def test_nothing_from_a_stop_string_on_is_shown(pieces):
    assert stream(pieces, stop=["STOP"]) == ("one ", True)


def test_the_earliest_of_several_stop_strings_ends_it():
    assert stream(["a", " B", " AA"], stop=["AA", "B"]) == ("a ", True)


def test_what_only_began_like_a_stop_string_is_shown():
    assert stream(["ST", "ART ", "ST"], stop=["STOP"]) == ("START ST", False)


@given(
    st.text("ab<|", max_size=30), st.lists(st.text("ab<|", min_size=1, max_size=4), min_size=1, max_size=3), st.data()
)
def test_a_stop_string_is_found_however_the_text_is_cut(text, stop, data):
    whole, _ = stream([text], stop=stop, ends=())
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    pieces = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    cut, _ = stream(pieces, stop=stop, ends=())
    first = min((place for one in stop if (place := text.find(one)) >= 0), default=len(text))
    assert whole == text[:first]
    # A shorter stop string inside a longer one may only be seen first when it arrives first.
    assert text.startswith(cut)
    assert not any(one in cut for one in stop)


@pytest.mark.parametrize(
    "pieces",
    [
        ["Paris.", "<|", "im", "_end", "|>"],
        ["Paris.", END, "\n", START, "user\nAnd"],
        ["Paris.<|im_end|>", "<|im_", "start|>user"],
        ["Paris.", END, END],
    ],
)
def test_an_end_marker_in_pieces_ends_the_turn_and_is_not_shown(pieces):
    assert stream(pieces)[0] == "Paris."


@pytest.mark.parametrize(
    "text",
    [
        "The marker <|im_end|> closes a turn.",
        "Write `<|im_end|>` there.",
        'It is called "<|im_end|>"\nand ends a turn.',
        "```\n<|im_start|>user\nHi<|im_end|>\n```\nThat is ChatML.",
        "Half of it: <|im_",
    ],
)
def test_an_answer_about_the_marker_is_not_cut(text):
    assert stream(list(text)) == (text, False)
    assert stream([text]) == (text, False)


def test_stop_strings_keep_what_could_still_match():
    stop = StopStrings(["xyz"])
    assert stop.push("ax") == ("a", False)
    assert stop.push("y") == ("", False)
    assert stop.push("-") == ("xy-", False)
    assert stop.finish() == ""
