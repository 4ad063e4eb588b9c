"""What people say of themselves comes back for questions about themselves, even where no word matches."""

import pytest

from chat.memory import prompt_for
from chat.memory.marks import FACT, NAME, NUMBER, OWN, asks_about_himself, asks_about_somebody, asks_for, marks_of
from chat.tests.memory.fakes import ask, fake, in_thread
from chat.tests.memory.recalling import old_talk, recalled

MARKED = [
    ("User", "My dog is called Rex.", {FACT, OWN, NAME}),
    ("User", "The train leaves at 7:40.", {FACT, NUMBER}),
    ("User", "What is my dog called?", set()),
    ("User", "Hello there.", set()),
    ("Assistant", "It was a slow afternoon.", set()),
    ("Assistant", "The museum opens at 12:12.", {FACT, NUMBER}),
    ("Assistant", "I would try the hotel Cobalt.", {FACT, NAME}),
]


@pytest.mark.parametrize(("speaker", "text", "marks"), MARKED)
def test_statements_are_told_from_talk(speaker, text, marks):
    assert marks_of(speaker, text) == marks


ABOUT = [
    ("Where do I live?", True),
    ("Wie heißt meine Katze?", True),
    ("Which medicine was prescribed to me?", True),
    ("Welche Ärztin behandelt mich?", True),
    ("Can you tell me something about kites?", False),
    ("Kannst du mir Drachen erklären?", False),
    ("How do I sort a list?", False),
    ("Can I use a for loop?", False),
    ("My dog is called Rex.", False),
    ("Why is the sky blue?", False),
]


@pytest.mark.parametrize(("message", "is_so"), ABOUT)
def test_questions_about_oneself_are_told_from_others(message, is_so):
    assert asks_about_himself(message) == is_so


ABOUT_SOMEBODY = [
    *[each for each in ABOUT if each[0] not in {"Can I use a for loop?", "Kannst du mir Drachen erklären?"}],
    ("When did Caroline join the club?", True),
    ("I read of kites. Do I need a licence, and does Tom?", True),
    ("My colleagues talk about kites. Should I join in?", False),
    ("Caroline has joined the club.", False),
    ("Thanks! And what about kites?", False),
]


@pytest.mark.parametrize(("message", "is_so"), ABOUT_SOMEBODY)
def test_questions_about_somebody_are_told_from_others(message, is_so):
    assert asks_about_somebody(message) == is_so


def test_some_questions_ask_for_a_number():
    assert [asks_for(message) for message in ("When is it?", "How much is it?", "Who is it?")] == [NUMBER, NUMBER, NAME]


@pytest.mark.django_db(transaction=True)
async def test_without_a_word_in_common_own_facts_may_be_meant(alice):
    last = await in_thread(old_talk)(alice, "My hound is called Rex.", "Noted.")
    lines = recalled(await prompt_for(await in_thread(ask)(last, "Which pet have I got?"), fake()))
    assert "User: My hound is called Rex." in lines


@pytest.mark.django_db(transaction=True)
async def test_but_not_what_the_notes_have_already(alice):
    last = await in_thread(old_talk)(alice, "My hound is called Rex.", "Noted.")
    await last.conversation.summaries.aupdate(text="User: My hound is called Rex.")
    lines = recalled(await prompt_for(await in_thread(ask)(last, "Which pet have I got?"), fake()))
    assert "User: My hound is called Rex." not in lines
