"""A template that is broken, odd or hostile says so when it is loaded, and never fails a conversation."""

import logging

import pytest

from chat.inference.template import ChatTemplate, TemplateError
from chat.inference.template.sandbox import MAX_CHARS
from chat.tests.inference.templates import talk, text

GENERIC_PROMPT = "### System\nS\n\n### User\nU\n\n### Assistant\n"


def plain_prompt(source):
    return text(ChatTemplate(source).render(talk("system: S", "user: U")))


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("line one\n{% for m in messages %}", "line 2: Unexpected end of template"),
        ("{{ messages | sparkle }}", "line 1: No filter named 'sparkle'"),
        ("{% include 'x' ", "line 1"),
    ],
)
def test_a_source_that_does_not_compile_is_refused_with_its_reason(source, reason):
    with pytest.raises(TemplateError, match=reason):
        ChatTemplate(source)


@pytest.mark.parametrize(
    "source",
    [
        "{{ raise_exception('never') }}",
        "{{ messages[0].nothing.at.all }}",
        "{{ 1 / 0 }}",
        "{{ ''.__class__.__mro__[1].__subclasses__() }}",
        "{{ messages.append(1) }}{{ messages[-1].content }}",
        "{% for m in messages %}{{ m.content }}{% for i in range(99999) %}{{ 'x' * 40 }}{% endfor %}{% endfor %}",
        "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
        "no message in sight",
        "{% for m in messages %}{{ m.content | upper }}{% endfor %}",
        "{% for m in messages %}{{ m.content[:12] }} is the title of {{ m.content }}{% endfor %}",
        "{% for m in messages if m.role == 'assistant' %}{{ m.content }}{% endfor %}",
    ],
)
def test_a_template_that_cannot_show_the_conversation_gives_way_to_plain_text(source):
    assert plain_prompt(source) == GENERIC_PROMPT


def test_the_reason_for_plain_text_is_logged(caplog):
    with caplog.at_level(logging.WARNING):
        plain_prompt("{{ raise_exception('no Tuesdays') }}")
    assert "no Tuesdays" in caplog.text


def test_the_limit_counts_the_templates_text_and_not_the_contents():
    long = "x" * (MAX_CHARS + 1)
    prompt = ChatTemplate("<u>{{ messages[0].content }}</u>").render([{"role": "user", "content": long}])
    assert [len(segment.text) for segment in prompt] == [3, MAX_CHARS + 1, 4]


def test_a_text_that_the_template_repeats_comes_twice():
    prompt = ChatTemplate("{{ messages[0].content }}|{{ messages[0].content }}").render(talk("user: U"))
    assert [(segment.text, segment.message) for segment in prompt] == [("U", 0), ("|", None), ("U", 0)]


def test_a_reply_that_the_template_leaves_out_is_left_out():
    template = ChatTemplate("{% for m in messages if m.role == 'user' %}<u>{{ m.content }}{% endfor %}")
    assert text(template.render(talk("user: U", "assistant: A", "user: V"))) == "<u>U<u>V"
    assert template.adapted == ("a message that the template leaves out",)


def test_contents_are_given_as_parts_to_a_template_that_takes_no_string():
    source = "{% for m in messages %}<u>{% for p in m.content if p.type == 'text' %}{{ p.text | trim }}{% endfor %}"
    prompt = ChatTemplate(source + "<e>{% endfor %}").render(talk("user:  U "))
    assert [segment.text for segment in prompt] == ["<u>", "U", "<e>"]


def test_a_template_that_is_nested_beyond_reason_is_refused():
    with pytest.raises(TemplateError, match="does not compile"):
        ChatTemplate("{% if 1 %}" * 5000 + "{% endif %}" * 5000)


def test_a_file_without_a_template_gets_a_plain_one_that_takes_any_conversation():
    template = ChatTemplate("", bos="<s>", eos="</s>")
    prompt = template.render(talk("assistant: A", "system: S", "user: U", "user: V"))
    assert text(prompt) == ("<s>### Assistant\nA</s>\n\n### System\nS\n\n### User\nU\n\n### User\nV\n\n### Assistant\n")
    assert template.adapted == ()


def test_a_message_of_an_unknown_role_or_without_content_is_no_error():
    prompt = ChatTemplate("").render([{"role": "tool", "content": "T"}, {"role": "user", "content": None}, {}])
    assert text(prompt) == (
        "### User\n<tool_response>\nT\n</tool_response>\n\n### User\n\n\n### User\n\n\n### Assistant\n"
    )
