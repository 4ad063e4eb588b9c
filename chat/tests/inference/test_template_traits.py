"""What a template can do is read from it: its switch, its reasoning markers, the marker that ends a turn."""

import pytest

from chat.inference.template import ChatTemplate
from chat.tests.inference.templates import load, talk

TURN_ENDS = {
    "smollm2": "<|im_end|>",
    "qwen3": "<|im_end|>",
    "qwen35": "<|im_end|>",
    "llama3": "<|eot_id|>",
    "gemma2": "<end_of_turn>",
    "gemma3": "<end_of_turn>",
    "gemma4": "<turn|>",
    "phi3": "<|end|>",
    "phi4mini": "<|end|>",
    "granite3": "<|end_of_text|>",
    "granite4": "<|end_of_text|>",
    "smollm3": "<|im_end|>",
    "lfm2": "<|im_end|>",
    "ministral": "</s>",
    "deepseek_distill": "<｜end▁of▁sentence｜>",
}
THINK = ("<think>", "</think>")
REASONING = {
    "qwen3": THINK,
    "qwen35": THINK,
    "smollm3": THINK,
    "lfm2": THINK,
    "deepseek_distill": THINK,
    "granite3": THINK,
    "ministral": ("[THINK]", "[/THINK]"),
    "gemma4": ("<|channel>thought\n", "<channel|>"),
}


@pytest.mark.parametrize("family", TURN_ENDS)
def test_the_marker_behind_a_reply(family):
    assert load(family).turn_end == TURN_ENDS[family]


@pytest.mark.parametrize("family", TURN_ENDS)
def test_the_markers_of_reasoning(family):
    assert load(family).reasoning == REASONING.get(family)


@pytest.mark.parametrize("family", TURN_ENDS)
def test_the_switch(family):
    assert load(family).supports_thinking == (family in {"qwen3", "qwen35", "smollm3", "granite3", "gemma4"})


@pytest.mark.parametrize(
    ("family", "thinking", "opens"),
    [
        ("qwen3", True, False),
        ("qwen3", False, False),
        ("qwen35", None, True),
        ("qwen35", False, False),
        ("deepseek_distill", None, True),
        ("gemma4", None, False),
        ("llama3", None, False),
    ],
)
def test_a_prompt_may_end_inside_the_reasoning(family, thinking, opens):
    template = load(family)
    assert template.opens_reasoning(template.render(talk("user: Hello"), thinking=thinking)) is opens


def test_words_of_a_person_do_not_open_the_reasoning():
    template = ChatTemplate("{{ messages[-1].content }}{# <think> #}")
    assert not template.opens_reasoning(template.render(talk("user: now <think>")))


def test_a_template_without_a_marker_has_no_turn_end():
    assert ChatTemplate("{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}").turn_end == ""


def test_a_variable_of_the_templates_own_is_no_switch():
    assert not ChatTemplate(
        "{% set thinking = messages[0].x %}{{ thinking }}{{ messages[0].content }}"
    ).supports_thinking


def test_the_plain_template_names_the_text_at_which_a_reply_has_ended():
    template = ChatTemplate("", eos="</s>")
    assert template.turn_end == "</s>"
    assert template.stop_texts == ("\n### User\n",)
    assert load("qwen3").stop_texts == ()
