"""Fresh words are one token each, and no reply ends before its time."""

from random import Random

from benchmarks.vocabulary import Vocabulary

VOCABULARY = Vocabulary(
    ["<|im_end|>", "<tool>", "apple", "Ġpear", "▁plum", "Ġof", "ĠParis", "Ġfig2", "Ġé"], [3, 4, 1, 1, 1, 1, 1, 1, 1]
)


def test_only_plain_words_with_a_space_before_them_are_taken():
    assert VOCABULARY.words == ["pear", "plum"]


def test_a_text_has_so_many_words_and_the_same_seed_gives_the_same():
    text = VOCABULARY.text(Random(3), 20)
    assert len(text.split()) == 20
    assert text == VOCABULARY.text(Random(3), 20)
    assert text != VOCABULARY.text(Random(4), 20)


def test_every_token_that_structures_a_conversation_is_forbidden_to_the_reply():
    assert VOCABULARY.no_end == {"0": -100.0, "1": -100.0}
