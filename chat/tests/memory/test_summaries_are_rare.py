"""A summary is written when it frees a good share of the context, however little room is left beside it."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage

from chat.memory.budget import Budget
from chat.memory.prompt import Layout, Notes
from chat.memory.summary import due
from chat.tests.memory.counting import count


def talk_on(budget, sizes, *, system=20, num_pinned=0):
    """Turn by turn with whole summaries; how many were written, and that none was due right after another."""
    layout, written = Layout(HumanMessage("."), (SystemMessage("s " * system),)), 0
    for at, size in enumerate(sizes):
        pair = (HumanMessage("w " * size, id=str(2 * at + 1)), AIMessage("w " * size, id=str(2 * at + 2)))
        layout = replace(layout, turns=(*layout.turns, *pair))
        if len(layout.pins) < num_pinned:
            layout = replace(layout, pins=layout.pins | {2 * at + 1})
        if cut := due(layout, budget, count):
            written += 1
            layout = replace(layout.folded(cut), notes=Notes("n " * (budget.summary - 16)))
            assert count(layout.messages()) <= budget.high or not layout.turns
            assert due(layout, budget, count) == 0
    return written


@pytest.mark.parametrize(("context", "most"), [(512, 24), (768, 14), (1024, 10), (2048, 5), (8192, 1)])
def test_of_turns_of_forty_tokens(context, most):
    assert talk_on(Budget.of(context, 1024), [16] * 100) <= most


def test_many_pins_and_a_long_system_prompt_make_them_hardly_more_frequent():
    budget = Budget.of(1024, 1024)
    assert talk_on(budget, [16] * 100, num_pinned=9) <= 12
    assert talk_on(budget, [16] * 100, system=500) <= 25


@given(st.lists(st.integers(1, 300), min_size=5, max_size=60), st.integers(256, 4096), st.integers(0, 3000))
@settings(max_examples=60, deadline=None)
def test_never_twice_for_nothing(sizes, context, system):
    budget = Budget.of(context, 1024)
    spoken = sum(2 * size + 8 for size in sizes)
    assert talk_on(budget, sizes, system=system, num_pinned=5) <= spoken / (budget.prompt // 4)
