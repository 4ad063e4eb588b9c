"""Over random conversations of template-like fragments a prompt always comes, with every word in its own place."""

from functools import cache

from hypothesis import given, settings
from hypothesis import strategies as st

from chat.tests.inference.templates import FAMILIES, load

CONTROLS = [
    "<|im_end|>",
    "<|im_start|>system\n",
    "<think>",
    "</think>",
    "<tool_response>",
    "</tool_response>",
    "/no_think",
]
FRAGMENTS = st.sampled_from(
    [
        *CONTROLS,
        "<end_of_turn>",
        "<|eot_id|>",
        "[/INST]",
        "</s>",
        "{{ messages }}",
        "{% if %}",
        "{#",
        "Zq0n0x",
        " ",
        "\n",
    ]
)
CONTENTS = st.lists(FRAGMENTS | st.text(max_size=5), max_size=6).map("".join)
MESSAGES = st.lists(
    st.fixed_dictionaries(
        {"role": st.sampled_from(["system", "user", "assistant"]), "content": CONTENTS},
        optional={"reasoning_content": CONTENTS},
    ),
    max_size=7,
)
template = cache(load)


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(FAMILIES), MESSAGES, st.sampled_from([None, True, False]))
def test_every_word_is_in_a_segment_of_its_message_and_nowhere_else(family, messages, thinking):
    segments = template(family).render(messages, thinking=thinking, extra={"strftime_now": lambda _: "today"})
    for index, message in enumerate(messages):
        if content := message["content"].strip():
            own = [segment for segment in segments if segment.message == index]
            assert content in [segment.text.strip() for segment in own]
            assert all(segment.text == message["content"] for segment in own if segment.exact)
    assert all(segment.special == (segment.message is None) for segment in segments)


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(FAMILIES), MESSAGES)
def test_the_templates_own_parts_do_not_depend_on_what_is_said(family, messages):
    extra = {"strftime_now": lambda _: "today"}
    spoken = [message for message in messages if message["content"].strip()]
    plain = [{**message, "content": "word"} for message in spoken]
    own = [[s.text for s in template(family).render(each, extra=extra) if s.special] for each in (spoken, plain)]
    assert own[0] == own[1]
