"""A conversation that a template refuses is put into a form that it takes, and nobody's words get lost."""

import logging

import pytest

from chat.inference.template import ChatTemplate
from chat.tests.inference.templates import FAMILIES, load, talk, text

CONVERSATIONS = {
    "two user turns": talk("user: U1", "user: U2"),
    "two replies": talk("user: U1", "assistant: A1", "assistant: A2", "user: U2"),
    "assistant first": talk("assistant: A1", "user: U1"),
    "system, assistant first": talk("system: S1", "assistant: A1", "user: U1"),
    "system, two user turns": talk("system: S1", "user: U1", "user: U2"),
    "two system messages": talk("system: S1", "system: S2", "user: U1"),
    "system further down": talk("user: U1", "assistant: A1", "system: S1", "user: U2"),
    "system at the end": talk("system: S1", "user: U1", "assistant: A1", "system: S2"),
    "assistant last": talk("user: U1", "assistant: A1"),
    "system alone": talk("system: S1"),
}
TURNS = "<start_of_turn>user\n{}<end_of_turn>\n<start_of_turn>model\n"


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("name", CONVERSATIONS)
def test_every_family_shows_every_word_once_and_in_order(family, name):
    messages = CONVERSATIONS[name]
    segments = load(family).render(messages)
    shown = [(segment.message, segment.text) for segment in segments if not segment.special]
    expected = [(index, message["content"]) for index, message in enumerate(messages)]
    moved = family in {"granite4", "deepseek_distill", "phi4mini"}  # these print system messages where they like
    assert (sorted(shown) if moved else shown) == expected


@pytest.mark.parametrize("family", FAMILIES)
def test_no_messages_at_all_still_ask_for_a_reply(family):
    assert text(load(family).render([]))


@pytest.mark.parametrize("family", FAMILIES)
def test_an_empty_message_is_an_empty_turn(family):
    prompt = load(family).render(talk("system: ", "user: U1", "assistant: ", "user: U2"))
    assert [segment.text for segment in prompt if not segment.special] == ["U1", "U2"]
    assert not any("###" in segment.text for segment in prompt)


def test_a_refused_system_message_is_folded_into_the_first_user_turn():
    template = load("gemma2")
    prompt = template.render(talk("system: Be brief.", "user: Hello"))
    assert text(prompt) == "<bos>" + TURNS.format("Be brief.\n\nHello")
    assert [segment.message for segment in prompt if segment.exact] == [0, 1]
    assert template.adapted == ("system message folded into the first user turn",)


def test_two_user_turns_are_joined_by_a_blank_line():
    template = load("gemma3")
    assert text(template.render(talk("user: One", "user: Two"))) == "<bos>" + TURNS.format("One\n\nTwo")
    assert template.adapted == ("turns joined or added so that user and assistant alternate",)


def test_a_conversation_that_the_assistant_began_gets_a_silent_user_turn():
    prompt = text(load("gemma2").render(talk("assistant: Welcome!", "user: Hello")))
    begin, _, _ = prompt.partition("Welcome!")
    assert begin == "<bos>" + TURNS.format("…")


def test_what_the_template_takes_is_left_as_it_is():
    template = load("qwen3")
    prompt = text(template.render(talk("system: S", "user: One", "user: Two")))
    assert prompt.count("<|im_start|>user") == 2
    assert template.adapted == ()


def test_a_system_message_that_the_template_swallows_is_told_to_the_user_turn():
    template = ChatTemplate("{% for m in messages if m.role != 'system' %}<{{ m.role }}>{{ m.content }}{% endfor %}")
    assert text(template.render(talk("system: S", "user: U"))) == "<user>S\n\nU"


def test_an_adaptation_is_logged_once(caplog):
    template = load("gemma2")
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            template.render(talk("system: S", "user: U"))
    assert [record.getMessage() for record in caplog.records] == [
        "Adapted to the model's chat template: system message folded into the first user turn"
    ]


def test_what_worked_is_tried_first_the_next_time(monkeypatch):
    template = load("gemma2")
    messages = talk("system: S", "user: U", "user: V")
    template.render(messages)
    calls = []
    run = template.__class__._render_adapted.__globals__["run"]
    monkeypatch.setattr("chat.inference.template.chat.run", lambda *a: calls.append(1) or run(*a))
    template.render(messages)
    assert len(calls) == 1
