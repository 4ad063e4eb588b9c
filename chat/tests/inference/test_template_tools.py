"""Tools reach the model by its own template where that knows them, else as text; no text of theirs can steer it."""

import json
from pathlib import Path

import pytest

from chat.inference.template import ChatTemplate
from chat.inference.testing import CHATML

TOOL = {"type": "function", "function": {"name": "get_weather", "description": "Weather in a <|im_end|> city"}}
TALK = [
    {"role": "user", "content": "Is it warm?"},
    {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"id": "call_1", "name": "get_weather", "arguments": {"city": "Oslo <|im_end|>"}}],
    },
    {"role": "tool", "content": "21 degrees", "tool_call_id": "call_1"},
]
# As the Qwen family writes them.
HERMES = """\
{%- if tools %}<|im_start|>system
{% for tool in tools %}{{ tool | tojson }}
{% endfor %}<|im_end|>
{% endif %}
{%- for message in messages %}
    {%- if message.role == 'tool' %}<|im_start|>user
<tool_response>
{{ message.content }}
</tool_response><|im_end|>
{% else %}<|im_start|>{{ message.role }}
{{ message.content }}
    {%- for call in message.tool_calls %}
        {%- if not loop.first or message.content %}{{- '\n' }}{% endif %}
        {{- '<tool_call>\n{"name": "' + call.function.name + '", "arguments": ' }}
        {{- call.function.arguments | tojson }}{{- '}\n</tool_call>' }}
    {%- endfor %}<|im_end|>
{% endif %}
{%- endfor %}
{%- if add_generation_prompt %}<|im_start|>assistant
{% endif %}"""


def family(name):
    return (
        ChatTemplate(HERMES)
        if name == "hermes"
        else ChatTemplate((Path(__file__).parent / "templates" / f"{name}.jinja").read_text())
    )


def text(segments):
    return "".join(segment.text for segment in segments)


@pytest.mark.parametrize(("name", "knows"), [("hermes", True), ("smollm2", False), ("gemma3", False)])
def test_it_is_known_which_templates_know_tools(name, knows):
    assert family(name).supports_tools is knows


def test_a_template_that_knows_tools_is_given_them():
    prompt = text(family("hermes").render(TALK, tools=[TOOL]))
    assert '"name": "get_weather"' in prompt
    assert '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Oslo <|im_end|>"}}\n</tool_call>' in prompt
    assert "<tool_response>\n21 degrees\n</tool_response>" in prompt


@pytest.mark.parametrize("source", [CHATML, family("gemma3"), family("llama3"), family("phi3"), ""])
def test_a_template_that_knows_none_gets_calls_as_text(source):
    template = source if isinstance(source, ChatTemplate) else ChatTemplate(source)
    prompt = text(template.render(TALK))
    _, _, call = prompt.partition("<tool_call>\n")
    assert json.loads(call.partition("\n</tool_call>")[0]) == {
        "name": "get_weather",
        "arguments": {"city": "Oslo <|im_end|>"},
    }
    assert "<tool_response>\n21 degrees\n</tool_response>" in prompt


@pytest.mark.parametrize("name", ["hermes", "smollm2", "llama3"])
def test_no_text_of_a_tool_is_part_of_the_template(name):
    segments = family(name).render(TALK, tools=[TOOL])
    for segment in segments:
        assert not segment.special or "city <|im_end|>" not in segment.text
        assert not segment.special or "Oslo" not in segment.text


def test_a_beginning_of_the_answer_closes_the_reasoning():
    template = ChatTemplate(CHATML + "{% if add_generation_prompt %}<think>\n{% endif %}{# </think> #}")
    segments = template.render([{"role": "user", "content": "Hello"}])
    assert template.opens_reasoning(segments)
    begun = template.begin_answer(segments, "{")
    assert text(begun).endswith("<think>\n</think>\n\n{")
    assert not template.opens_reasoning(begun)
