"""Of two values of one thing the newer comes first, and the older one is marked."""

import datetime as dt

import pytest

from chat.memory import prompt_for
from chat.memory.newest import settle
from chat.memory.passages import Hit, Said, compose
from chat.tests.memory.counting import talk
from chat.tests.memory.fakes import ask, fake, in_thread
from chat.tests.memory.recalling import old_talk, recalled

DAY = dt.date(2026, 2, 3)


def hit(pk, text, score=1.0, speaker="User"):
    return Hit(Said(pk, speaker, DAY, text), {0: score}, score)


def lines(*hits, shown=(), notes=""):
    return [passage.text.partition(": ")[2] for passage in compose(settle(hits, shown, notes), {})]


OLD, NEW = "My flight leaves at 7:40.", "My flight leaves at 9:15."


def test_the_older_value_is_marked_and_comes_after_a_newer_one_with_a_lower_score():
    assert lines(hit(1, OLD, 0.9), hit(7, NEW, 0.5)) == [NEW, f"(earlier) {OLD}"]


def test_a_newer_value_among_the_turns_counts_too():
    assert lines(hit(1, OLD), shown=talk(NEW, "Noted.", first_id=5)) == [f"(earlier) {OLD}"]


def test_news_in_the_notes_mark_what_they_replace():
    assert lines(hit(1, "I live in Lyon."), notes="User: I like tea. I have moved to Leeds.") == [
        "(earlier) I live in Lyon."
    ]


@pytest.mark.parametrize(
    "notes",
    ["User: I live in Leeds.", "User: (earlier) I have moved to Leeds.", "Assistant: You have moved to Leeds.", ""],
)
def test_notes_without_news_mark_nothing(notes):
    assert lines(hit(1, "I live in Lyon."), notes=notes) == ["I live in Lyon."]


def test_news_of_its_own_are_not_marked_by_older_ones_in_the_notes():
    assert lines(hit(5, "I have moved to Leeds."), notes="User: I have moved to Lyon.") == ["I have moved to Leeds."]


def test_only_the_sentence_with_the_older_value_is_marked():
    assert lines(hit(1, f"I like tea. {OLD}"), hit(7, NEW))[1] == f"I like tea. (earlier) {OLD}"


def test_what_was_said_again_comes_once():
    assert lines(hit(1, NEW), hit(7, NEW)) == [NEW]


def test_a_question_that_was_asked_again_stays():
    assert len(lines(hit(1, "When does my flight leave?"), hit(7, "When does my flight leave?"))) == 2


def test_another_speaker_changes_nothing():
    assert lines(hit(1, OLD), hit(7, NEW, speaker="Assistant")) == [NEW, OLD]


@pytest.mark.django_db(transaction=True)
async def test_in_the_prompt_the_older_one_stands_first_and_is_marked(alice):
    last = await in_thread(old_talk)(alice, OLD, "Noted.", "Sorry, wait.", "Yes?", NEW, "Noted.")
    said = recalled(await prompt_for(await in_thread(ask)(last, "When does my flight leave?"), fake()))
    assert [line for line in said if "flight" in line] == [f"User: (earlier) {OLD}", f"User: {NEW}"]
