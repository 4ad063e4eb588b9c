"""A passage quotes what was found with what it cannot be understood without, clipped, each message once."""

import datetime as dt

from chat.memory.passages import Hit, Said, compose

DAY, NEXT = dt.date(2026, 2, 3), dt.date(2026, 2, 4)
ASKED = Said(1, "User", DAY, "Shall we take the red one?")
SAID = Said(2, "Assistant", DAY, "The blue one is better.")
AFTER = Said(3, "User", NEXT, "Blue it is.")
NODDED = Said(4, "Assistant", NEXT, "Fine.")


def hit(said, score=1.0, scores=None):
    return Hit(said, scores or {0: score}, score)


def test_both_neighbours_come_along_with_their_days():
    passage, alone = compose([hit(SAID)], {2: [ASKED, AFTER]})
    assert passage.text.splitlines() == [
        "2026-02-03 User: Shall we take the red one?",
        "Assistant: The blue one is better.",
        "2026-02-04 User: Blue it is.",
    ]
    assert passage.messages == (1, 2, 3)
    assert alone.messages == (2,)


def test_each_message_is_in_one_passage():
    passages = compose([hit(SAID, 0.9), hit(AFTER, 0.8)], {2: [ASKED, AFTER], 3: [SAID, NODDED]})
    assert [passage.messages for passage in passages] == [(1, 2, 3), (2,), (4,)]


def test_after_the_best_two_only_what_is_needed_comes_along():
    best = [hit(Said(pk, "User", DAY, "x"), 2) for pk in (11, 12)]
    answer = compose([*best, hit(SAID)], {2: [ASKED, AFTER]})[2]
    question = compose([*best, hit(ASKED)], {1: [SAID]})[2]
    statement = compose([*best, hit(AFTER)], {3: [SAID, NODDED]})[2]
    assert [passage.messages for passage in (answer, question, statement)] == [(1, 2), (1, 2), (3,)]


def test_of_a_long_message_the_best_parts_are_quoted():
    text = " ".join(
        f"Part {number} of the tale is told at some length, as it was told before." * 3 for number in range(9)
    )
    said = Said(1, "User", DAY, text)
    (passage,) = compose([hit(said, 1.0, {3: 1.0, 6: 0.9, 7: 0.2})], {})
    assert passage.text.count("…") == 3
    assert len(passage.text) < 600


def test_long_neighbours_are_clipped_towards_the_hit():
    long = "word " * 100
    before, after = Said(1, "User", DAY, f"{long}end"), Said(3, "User", DAY, f"begin {long}")
    first, _, last = compose([hit(SAID)], {2: [before, after]})[0].text.splitlines()
    assert first.endswith("word end")
    assert last.startswith("User: begin word")
    assert max(len(first), len(last)) < 160
