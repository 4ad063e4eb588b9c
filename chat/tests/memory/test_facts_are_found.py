"""Sentences that say something lasting about a person are found, and nothing else."""

import pytest

from chat.memory.facts import find


@pytest.mark.parametrize(
    ("sentence", "kind"),
    [
        ("My name is Ann Taylor.", "name"),
        ("Please call me Bo from now on.", "name"),
        ("Ich heiße Jürgen.", "name"),
        ("Je m'appelle Zoé.", "name"),
        ("меня зовут Анна и всё.", "name"),
        ("I prefer short answers.", "preference"),
        ("I’d prefer tea in the morning.", "preference"),
        ("I'm allergic to peanuts.", "preference"),
        ("My favourite colour is green.", "preference"),
        ("Always answer in French.", "preference"),
        ("We've decided to ship on Friday.", "decision"),
        ("We agreed on the blue logo.", "decision"),
        ("I live in Lisbon.", "other"),
        ("My dog is called Rex.", "other"),
        ("I have two daughters.", "other"),
        ("I work at the town library.", "other"),
    ],
)
def test_a_lasting_sentence_is_found_with_its_kind(sentence, kind):
    assert [(found.text, found.kind) for found in find(f"Hello there! {sentence} Tell me a joke.")] == [
        (sentence, kind)
    ]


@pytest.mark.parametrize(
    "text",
    [
        "What is my name?",
        "Do you know where I live?",
        "My password is hunter2 and my name is Ann.",
        "My card number is 4111 1111 1111 1111.",
        "My IBAN is DE02120300000000202051.",
        "I'm trying to fix my code.",
        "My next question is about Rome.",
        "I would like you to write a poem.",
        "I like it, thank you.",
        "I'm so sorry about that.",
        "Write a story about a lighthouse.",
        "Hi!",
        "",
        "I live in " + "a very long street " * 40,
    ],
)
def test_questions_secrets_and_what_is_said_for_the_moment_are_not(text):
    assert find(text) == []


def test_code_is_not_read():
    assert find("```\nmy name is x\n# I live in /tmp\n```") == []
