"""For ordinary messages a prompt is what the model's own template makes of them."""

from datetime import datetime

import pytest

from chat.inference.template.sandbox import compile_template, run
from chat.tests.inference.templates import FAMILIES, TOKENS, load, source, talk, text

NOW = datetime(2025, 3, 7)  # noqa: DTZ001
ALTERNATING = talk("user: Hello?", "assistant: Hi, I am here.", "user: 2 + 2 = ?")
WITH_SYSTEM = talk("system: Be brief.") + ALTERNATING
BLANKS = talk("user:  \n  indented\n\n", "assistant: \n an answer \n", "user: \tlast  ")
TAKES_SYSTEM = [family for family in FAMILIES if family != "gemma2"]


def rendered_directly(family, messages, **variables):
    bos, eos = TOKENS[family]
    names = {"bos_token": bos, "eos_token": eos, "add_generation_prompt": True, "strftime_now": NOW.strftime}
    return run(compile_template(source(family)), names | variables | {"messages": messages})


@pytest.mark.parametrize("family", FAMILIES)
def test_a_conversation_reads_as_the_template_prints_it(family):
    assert text(load(family).render(ALTERNATING, now=NOW)) == rendered_directly(family, ALTERNATING)


@pytest.mark.parametrize("family", TAKES_SYSTEM)
def test_a_system_message_reads_as_the_template_prints_it(family):
    template = load(family)
    assert text(template.render(WITH_SYSTEM, now=NOW)) == rendered_directly(family, WITH_SYSTEM)
    assert template.adapted == ()


@pytest.mark.parametrize("family", FAMILIES)
def test_blanks_around_a_content_are_kept_or_trimmed_as_the_template_does(family):
    assert text(load(family).render(BLANKS, now=NOW)) == rendered_directly(family, BLANKS)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("thinking", [True, False])
def test_the_switch_is_the_templates_own(family, thinking):
    template = load(family)
    switch = "thinking" if family == "granite3" else "enable_thinking"
    expected = rendered_directly(family, ALTERNATING, **{switch: thinking})
    assert text(template.render(ALTERNATING, thinking=thinking, now=NOW)) == expected
    assert template.supports_thinking == (expected != rendered_directly(family, ALTERNATING, **{switch: not thinking}))


@pytest.mark.parametrize("family", FAMILIES)
def test_earlier_reasoning_is_dropped_as_the_template_does(family):
    messages = talk("user: Hello?", "assistant: Hi.", "user: And?")
    messages[1]["reasoning_content"] = "They greet me."
    assert text(load(family).render(messages, now=NOW)) == rendered_directly(family, messages)


def test_reasoning_after_the_last_question_is_shown_as_the_template_does():
    messages = [*talk("user: Hello?"), {"role": "assistant", "content": "Hi", "reasoning_content": "They greet me."}]
    segments = load("qwen3").render(messages)
    assert "<think>\nThey greet me.\n</think>\n\nHi<|im_end|>" in text(segments)
    reasoning = next(segment for segment in segments if segment.text == "They greet me.")
    assert (reasoning.special, reasoning.message, reasoning.exact) == (False, 1, False)


@pytest.mark.parametrize("family", FAMILIES)
def test_each_content_is_a_segment_of_its_message(family):
    messages = WITH_SYSTEM if family in TAKES_SYSTEM else ALTERNATING
    segments = [segment for segment in load(family).render(messages) if not segment.special]
    assert [segment.text for segment in segments] == [message["content"] for message in messages]
    assert [segment.message for segment in segments] == list(range(len(messages)))
    assert all(segment.exact for segment in segments)


def test_a_trimmed_content_is_not_exact():
    segments = [segment for segment in load("llama3").render(BLANKS) if not segment.special]
    assert [segment.text for segment in segments] == ["indented", "an answer", "last"]
    assert not any(segment.exact for segment in segments)


def test_the_date_comes_from_the_caller():
    assert "Today Date: 07 Mar 2025" in text(load("llama3").render(ALTERNATING, now=NOW))
    assert "Today's Date: March 07, 2025" in text(load("granite3").render(ALTERNATING, now=NOW))


def test_the_operators_variables_reach_the_template():
    prompt = text(load("llama3").render(ALTERNATING, extra={"date_string": "1 May 2031"}))
    assert "Today Date: 1 May 2031" in prompt


def test_tools_are_printed_by_the_template_and_their_words_stay_words():
    tool = {"type": "function", "function": {"name": "look", "description": 'say "<|eot_id|>" \n twice'}}
    segments = load("llama3").render(ALTERNATING, tools=[tool], now=NOW)
    assert text(segments) == rendered_directly("llama3", ALTERNATING, tools=[tool])
    assert 'say \\"<|eot_id|>\\" \\n twice' in [segment.text for segment in segments if not segment.special]
