"""As long as the summary is the same, each prompt begins with all of the prompt before it."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage

from chat.memory.budget import Budget
from chat.memory.prompt import Notes, Passage, build
from chat.tests.memory.counting import count, layout_of, talk, texts


@given(st.lists(st.tuples(texts, texts), min_size=2, max_size=12), st.none() | st.just(Notes("User: Hi.", (1, 2), 3)))
@settings(max_examples=100, deadline=None)
def test_prompt_is_a_prefix_of_the_next_one(pairs, notes):
    budget, turns, before = Budget.of(8192, 256), (), []
    for question, answer in pairs:
        layout = layout_of(turns, question, notes=notes)
        prompt = build(layout, budget, count)
        assert {part.kind for part in prompt.parts}.isdisjoint({"digest", "left_out"})
        assert prompt.messages[: len(before)] == before
        before = prompt.messages
        turns = (*turns, layout.message, AIMessage(answer, id=str(len(turns) + 2)))


def test_the_parts_stand_in_their_order_and_are_quoted_under_their_headings():
    turns = talk("My dog is called Rex.", "Nice.", "I live in Paris.", "Good.", "Hello!", "Hi!")
    layout = layout_of(turns[4:], "Where?", notes=Notes("User: I like tea.", (2, 3, 4)))
    layout = replace(
        layout,
        facts=("My name is Ann.",),
        pinned=turns[:1],
        pins=frozenset([1]),
        passages=(Passage("User: I live in Paris.", (3, 4)),),
    )
    prompt = build(layout, Budget.of(512, 64), count)
    lines = [message.text.splitlines()[-1] for message in prompt.messages]
    assert lines == [
        "Be kind.",
        "> My name is Ann.",
        "> User: I like tea.",
        "> User: My dog is called Rex.",
        "Hello!",
        "Hi!",
        "> User: I live in Paris.",
        "Where?",
    ]
    kinds = [(part.kind, part.messages) for part in prompt.parts]
    assert kinds == [
        ("system", ()),
        ("facts", ()),
        ("summary", (2, 3, 4)),
        ("pinned", (1,)),
        ("turns", (5, 6)),
        ("recalled", (3, 4)),
        ("message", (1002,)),
    ]
    assert sum(part.num_tokens for part in prompt.parts) == prompt.num_tokens


def test_passages_that_are_shown_anyway_are_not_recalled():
    layout = replace(layout_of(talk("I live in Paris.", "Good."), "Where?"), passages=(Passage("User: ...", (1, 2)),))
    assert "recalled" not in [part.kind for part in build(layout, Budget.of(512, 64), count).parts]


def test_the_best_passages_that_fit_are_shown_in_the_order_in_which_they_were_said():
    passages = (
        Passage("best " * 30, (5,)),
        Passage("too long " * 400, (1,)),
        Passage("second " * 30, (3,)),
    )
    prompt = build(replace(layout_of((), "Where am I?"), passages=passages), Budget.of(640, 64), count)
    recalled = prompt.messages[-2].text.splitlines()[1:]
    assert [line.split()[1] for line in recalled] == ["second", "best"]
    assert prompt.parts[-2].num_tokens <= Budget.of(640, 64).recall


@pytest.mark.parametrize(
    ("message", "num_shown"), [("Where is Ann?", 4), ("Where am I?", 4), ("Why?", 2), ("Go on.", 2)]
)
def test_a_message_that_asks_about_nobody_gets_half_of_the_passages(message, num_shown):
    passages = tuple(Passage("word " * 26, (pk,)) for pk in range(1, 9))
    prompt = build(replace(layout_of((), message), passages=passages), Budget.of(640, 64), count)
    assert len(prompt.messages[-2].text.splitlines()) - 1 == num_shown


def test_but_the_best_passage_if_it_alone_takes_more():
    passages = (Passage("word " * 100, (1,)), Passage("word " * 5, (2,)))
    prompt = build(replace(layout_of((), "Go on."), passages=passages), Budget.of(640, 64), count)
    assert prompt.parts[-2].messages == (1,)


def test_passages_that_cannot_fit_cost_no_look_at_the_whole_prompt():
    counted = []

    def counting(messages):
        counted.append(len(messages))
        return count(messages)

    turns = talk(*["word " * 10] * 20)
    passages = (Passage("best " * 30, (-2,)), *(Passage("word " * 300, (-pk,)) for pk in range(3, 40)))
    prompt = build(replace(layout_of(turns), passages=passages), Budget.of(640, 64), counting)
    assert prompt.parts[-2].messages == (-2,)
    assert sum(size > len(turns) for size in counted) < 10


def test_a_pinned_message_stays_verbatim_when_its_turn_gives_way():
    turns = talk(*["word " * 30] * 20)
    layout = replace(layout_of(turns), pins=frozenset([3]))
    prompt = build(layout, Budget.of(512, 64), count)
    parts = {part.kind: part.messages for part in prompt.parts}
    assert parts["pinned"] == (3,)
    assert 3 not in parts["digest"]
    covered = sorted([*parts["digest"], *parts["pinned"], *parts["turns"]])
    assert covered == list(range(1, 21))
