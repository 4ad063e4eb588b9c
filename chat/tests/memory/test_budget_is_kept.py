"""No prompt is over its budget, each message stands in one part, and what cannot fit is refused with both numbers."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chat.memory.budget import Budget, MessageTooLong
from chat.memory.prompt import Notes, build, ids
from chat.tests.memory.counting import count, count_together, histories, layout_of, talk, texts

contexts = st.integers(min_value=24, max_value=2048)
notes = st.none() | texts.map(lambda text: Notes(text, (900, 901), 7))


counters = st.sampled_from([count, count_together])


@given(histories(), texts, texts | st.just(""), notes, contexts, st.integers(1, 1024), counters)
@settings(max_examples=150, deadline=None)
def test_never_over_for_any_history_and_budget(turns, message, system, summary, context, max_reply, count):
    budget = Budget.of(context, max_reply)
    layout = layout_of(turns, message, system, summary)
    try:
        prompt = build(layout, budget, count)
    except MessageTooLong as refused:
        assert refused.needed > refused.available  # noqa: PT017 - either outcome is right, each in its way
        return
    assert prompt.num_tokens == count(prompt.messages) <= context - budget.reserve
    assert sum(part.num_tokens for part in prompt.parts) == prompt.num_tokens
    shown = [pk for part in prompt.parts for pk in part.messages]
    assert shown == [*(summary.messages if summary else ()), *ids(turns), *ids([layout.message])]
    kept = next((part.messages for part in prompt.parts if part.kind == "turns"), ())
    assert kept == ids(turns)[len(turns) - len(kept) :]
    assert not kept or next(turn for turn in turns if ids([turn])[0] == kept[0]).type == "human"


@given(st.integers(16, 40_000), st.integers(1, 40_000))
def test_shares_make_sense_for_every_context(context, max_reply):
    budget = Budget.of(context, max_reply)
    assert 0 < budget.reserve <= context // 4 or budget.reserve == 1
    assert 0 < budget.summary < budget.low < budget.high < budget.prompt < context


def test_a_message_longer_than_the_context_is_refused_with_both_numbers():
    budget = Budget.of(512, 1024)
    with pytest.raises(MessageTooLong) as refused:
        build(layout_of(talk("Hi.", "Hello."), "word " * 600), budget, count)
    assert (refused.value.needed, refused.value.available) == (600, 384 - 3 - 6 - 4)
    assert "600 tokens, and 371 fit" in str(refused.value)


def test_the_longest_message_that_fits_is_taken_and_everything_else_left_out():
    prompt = build(layout_of(talk("Hi.", "Hello."), "word " * 371), Budget.of(512, 1024), count)
    assert prompt.num_tokens == 384
    assert [(part.kind, part.messages) for part in prompt.parts[1:-1]] == [("left_out", (1, 2))]


def test_turns_that_do_not_fit_yet_are_shown_as_a_digest():
    turns = talk("My dog is called Rex.", "Nice. " * 100, *["Tell me a story, please.", "Once upon a time. " * 10] * 8)
    prompt = build(layout_of(turns), Budget.of(512, 1024), count)
    digest = prompt.parts[1]
    assert digest.kind == "digest"
    assert digest.messages[:2] == (1, 2)
    assert "My dog is called Rex." in prompt.messages[1].text


def test_a_digest_that_measures_more_in_its_place_than_alone_takes_no_room_from_the_reply():
    def count_grudgingly(messages):
        beside = any(message.type == "ai" for message in messages) and any("> " in message.text for message in messages)
        return count(messages) + 150 * beside

    turns = talk(*["My lucky number is 7 and my dog is called Rex.", "Once upon a time. " * 8] * 12)
    prompt = build(layout_of(turns), Budget.of(512, 1024), count_grudgingly)
    assert prompt.num_tokens == count_grudgingly(prompt.messages) <= 384
