"""What changed between two texts: nothing is lost of either, whatever they are."""

from hypothesis import given
from hypothesis import strategies as st

from chat.differences import Stretch, difference

texts = st.text(alphabet="ab \n\t<é", max_size=60)


@given(texts, texts)
def test_both_texts_can_be_put_together_from_the_stretches(before, after):
    stretches = difference(before, after)
    assert "".join(part.text for part in stretches if part.kind != "new") == before
    assert "".join(part.text for part in stretches if part.kind != "gone") == after


def test_what_came_stands_where_what_went_was():
    stretches = difference("Rex is 5 years old.", "Rex is 8 years old.")
    assert stretches == [
        Stretch("same", "Rex is "),
        Stretch("gone", "5"),
        Stretch("new", "8"),
        Stretch("same", " years old."),
    ]


def test_very_long_texts_are_not_compared():
    assert [part.kind for part in difference("a " * 4000, "b " * 4000)] == ["gone", "new"]
