"""Reasoning and answer stream apart, however their markers are cut into pieces."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.inference.reasoning import ReasoningSplitter


def split(*pieces, markers=("<think>", "</think>"), opened=False):
    splitter = ReasoningSplitter(*markers, open=opened)
    parts = [splitter.push(piece) for piece in pieces] + [splitter.finish()]
    return "".join(part[0] for part in parts), "".join(part[1] for part in parts)


@pytest.mark.parametrize(
    ("reply", "reasoning", "answer"),
    [
        ("<think>\nHm.\n</think>\n\nYes.", "Hm.\n", "Yes."),
        ("\n <think>Hm.</think>Yes.", "Hm.", "Yes."),
        ("<think>\n\n</think>\n\nYes.", "", "Yes."),
        ("<think>Hm.</think>\n\n    code\n\nmore\n\n", "Hm.", "    code\n\nmore\n\n"),
        ("Yes.", "", "Yes."),
        ("  Yes.", "", "  Yes."),
        ("The marker <think>a</think> is text.", "", "The marker <think>a</think> is text."),
        ("<think>Hm.</think>It says </think> and <think>.", "Hm.", "It says </think> and <think>."),
        ("<think>a < b, </thin air", "a < b, </thin air", ""),
        ("<think>Hm. </thi", "Hm. </thi", ""),
        ("<think>Hm.</think>\n\n", "Hm.", ""),
        ("<thinner> is no marker", "", "<thinner> is no marker"),
        ("<thi", "", "<thi"),
        ("", "", ""),
    ],
)
def test_a_reply_is_split_the_same_whole_and_character_by_character(reply, reasoning, answer):
    assert split(reply) == (reasoning, answer)
    assert split(*reply) == (reasoning, answer)


@pytest.mark.parametrize(
    ("reply", "reasoning", "answer"),
    [
        ("Hm.\n</think>\n\nYes.", "Hm.\n", "Yes."),
        ("\n</think>\n\nYes.", "", "Yes."),
        ("<think>\nHm.</think>Yes.", "Hm.", "Yes."),
        ("Hm, and then", "Hm, and then", ""),
        ("</think>Yes.", "", "Yes."),
        ("<thi", "<thi", ""),
        ("\n\n", "", ""),
    ],
)
def test_a_prompt_that_opened_the_reasoning_begins_inside_it(reply, reasoning, answer):
    assert split(reply, opened=True) == (reasoning, answer)
    assert split(*reply, opened=True) == (reasoning, answer)


def test_text_is_handed_on_as_soon_as_it_is_certain():
    splitter = ReasoningSplitter("<think>", "</think>", open=False)
    assert splitter.push("<thi") == ("", "")
    assert splitter.push("nk>Hm. </") == ("Hm. ", "")
    assert splitter.push("b> ") == ("</b> ", "")
    assert splitter.push("</think>\n") == ("", "")
    assert splitter.push("\nYes") == ("", "Yes")
    assert splitter.push(" </think>") == ("", " </think>")


def test_markers_may_hold_white_space():
    markers = ("<|channel>thought\n", "<channel|>")
    assert split("<|channel>thought\nHm.\n<channel|>Yes.", markers=markers) == ("Hm.\n", "Yes.")
    assert split("<|channel>thought\n<channel|>Yes.", markers=markers) == ("", "Yes.")


REPLIES = st.lists(
    st.sampled_from(["<think>", "</think>", "<thi", "nk>", "</", "<", ">", "\n", " ", "a", "b c", "[THINK]"]),
    max_size=9,
).map("".join)


@given(REPLIES, st.booleans(), st.data())
def test_where_a_reply_is_cut_changes_nothing(reply, opened, data):
    cuts = sorted(data.draw(st.lists(st.integers(0, len(reply)), max_size=5)))
    pieces = [reply[start:end] for start, end in zip([0, *cuts], [*cuts, len(reply)], strict=True)]
    assert split(*pieces, opened=opened) == split(reply, opened=opened)


@given(REPLIES)
def test_a_reply_that_does_not_begin_with_the_marker_is_answer_to_the_last_character(reply):
    if not reply.lstrip().startswith("<think>"):
        assert split(*reply) == ("", reply)
