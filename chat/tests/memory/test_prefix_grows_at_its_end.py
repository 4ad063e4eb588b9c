"""As long as the summary is the same, each prompt begins with all of the prompt before it."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage

from chat.memory.budget import Budget
from chat.memory.prompt import Notes, build
from chat.tests.memory.counting import count, layout_of, texts


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


def test_recalled_passages_stand_at_the_end_before_the_message():
    layout = replace(layout_of((), "Where?"), recalled=(HumanMessage("> I live in Paris.", id="5"),))
    prompt = build(layout, Budget.of(512, 64), count)
    assert [message.text for message in prompt.messages] == ["Be kind.", "> I live in Paris.", "Where?"]
    assert [part.kind for part in prompt.parts] == ["system", "recalled", "message"]
