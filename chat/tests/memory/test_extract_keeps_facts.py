"""The extractive notes keep facts in few words, the newest value of each, and stay within their bound."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage

from chat.memory.extract import extract
from chat.tests.memory.counting import histories, talk, texts


def within(num_words):
    return lambda text: len(text.split()) <= num_words


def notes_of(*texts, num_words=100, earlier=""):
    return extract(earlier, talk(*texts), within(num_words))


SMALL_TALK = ("How are you?", "I'm doing well, thank you! How can I help you today?", "Tell me something nice, please.")


def test_facts_outlive_small_talk():
    notes = notes_of("My dog is called Rex.", "That's lovely!", *SMALL_TALK, num_words=12)
    assert "User: My dog is called Rex." in notes
    assert "How are you" not in notes


def test_it_says_who_said_what():
    notes = notes_of("I live in Lyon.", "The mayor of Lyon has an office in Rue Garibaldi 12.")
    assert notes == "User: I live in Lyon.\nAssistant: The mayor of Lyon has an office in Rue Garibaldi 12."


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("My budget is 300 euros.", "My budget is 450 euros."),
        ("The deadline is 3 May.", "Actually, the deadline moved to 14 May."),
        ("I live in Paris.", "We moved to Lyon, by the way, and now we live in Lyon."),
        ("My dog is called Rex.", "My dog is now called Max."),
        ("My favourite colour is blue.", "My favourite colour is actually green."),
        ("Mein Budget ist 300 Euro.", "Mein Budget ist 450 Euro."),
    ],
)
def test_the_newest_value_stands_last_and_an_older_one_goes(older, newer):
    notes = notes_of(older, "Noted.", newer)
    assert newer in notes
    if "Paris" not in older:
        assert older not in notes


def test_an_older_value_that_may_still_hold_is_marked():
    notes = notes_of("My sister is called Anna.", "Nice.", "My sister is called Clara.")
    assert notes == "User: (earlier) My sister is called Anna. My sister is called Clara."
    assert extract(notes, talk("Thanks for all of that."), within(100)).startswith(notes)


def test_an_echo_of_the_assistant_does_not_go_stale():
    notes = notes_of("My budget is 300.", "Okay, your budget is 300.", "My budget is 450.", "Noted, 450.")
    assert notes == "User: My budget is 450."


def test_different_things_are_not_taken_for_updates():
    facts = "My dog is called Rex.", "My cat is called Tom.", "My dog is 5 years old.", "Alice's number is 555."
    notes = notes_of(facts[0], "Ok.", facts[1], "Ok.", facts[2], "Ok.", facts[3], "Ok.", "Bob's number is 777.")
    assert all(fact in notes for fact in (*facts, "Bob's number is 777."))
    assert "(earlier)" not in notes


def test_old_facts_survive_many_generations_of_notes():
    notes = notes_of("Remember that my flight leaves on 14 May at 7:35.", "Noted.")
    for round_ in range(40):
        notes = notes_of(*SMALL_TALK, f"The weather is nice in week {round_}.", num_words=40, earlier=notes)
    assert "my flight leaves on 14 May at 7:35" in notes


def test_notes_are_read_back_as_they_were_written():
    facts = ["My appointment is at 9:30.", "I am 34.", 'I call her "Dr. No."', "Ich komme am 3. Mai.", "I like tea"]
    notes = notes_of(*(text for fact in facts for text in (fact, "Ok.")))
    assert notes == f"User: {' '.join(facts)}."
    assert notes_of("I am 34.", "Ok.", earlier=notes).count("I am 34.") == 1


def test_other_scripts_are_cut_into_sentences_too():
    notes = notes_of("我的狗叫旺财。我住在上海。谢谢。", "好的。", "Меня зовут Анна. Мой бюджет 300 евро.")
    assert all(fact in notes for fact in ("我的狗叫旺财", "我住在上海", "Меня зовут Анна", "Мой бюджет 300 евро"))


def test_code_and_tables_stay_out():
    notes = notes_of("My script is called run.py:\n```\nimport secret_module_77\n```\n| a | 12 |\nIt has 40 lines.")
    assert "run.py" in notes
    assert "40 lines" in notes
    assert "secret_module_77" not in notes
    assert "| a" not in notes


def test_small_talk_alone_still_leaves_something():
    assert notes_of("How are you today?", "Fine.") == "User: How are you today?"


@given(texts | st.just(""), histories(), st.integers(0, 80))
@settings(max_examples=150, deadline=None)
def test_bounded_and_the_same_each_time(earlier, turns, num_words):
    notes = extract(earlier, turns, within(num_words))
    assert len(notes.split()) <= num_words
    assert notes == extract(earlier, turns, within(num_words))


def test_a_long_backlog_takes_no_time_worth_naming():
    turns = [
        kind(f"I saw number {n} of the {name} collection in Rome. " * 8)
        for n in range(500)
        for kind, name in ((HumanMessage, "Borghese"), (AIMessage, "Farnese"))
    ]
    began = time.perf_counter()
    extract("", turns, within(200))
    assert time.perf_counter() - began < 5  # a quadratic one would take minutes


def test_what_a_sentence_begins_with_is_no_part_of_the_fact():
    notes = notes_of("By the way: I live in Lyon.", "Ok.", "Oh, by the way, my dog is called Rex.")
    assert notes == "User: I live in Lyon. my dog is called Rex."


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("By the way: I live in Lyon.", "I have moved to Leeds."),
        ("My boss is called Hugo.", "My new boss is called Greta."),
        ("My car is a Volvo.", "By the way: Correction: My car is a Skoda."),
        ("My daughter was born on 3 May.", "It has changed: My daughter was born on 14 May."),
    ],
)
def test_updates_are_known_however_they_begin(older, newer):
    notes = notes_of(older, "Noted.", newer)
    assert newer.removeprefix("By the way: ") in notes
    assert older.removeprefix("By the way: ") not in notes.replace("(earlier) " + older, "")


@pytest.mark.parametrize(
    "withdrawal",
    [
        "Forget what I said about my allergy; it was wrong.",
        "Please disregard what I told you about my allergy.",
        "What I said about my allergy is not true any more.",
    ],
)
def test_what_was_withdrawn_is_marked_and_the_rest_is_not(withdrawal):
    notes = notes_of("I am allergic to mustard.", "Noted.", "My dog is called Rex.", "Nice.", withdrawal)
    assert "(earlier) I am allergic to mustard." in notes
    assert "(earlier) My dog" not in notes


def test_what_is_ones_own_outlives_what_is_somebody_elses():
    notes = notes_of("My neighbour's dog is called Anton.", "Ok.", "Every morning I take aspirin.", num_words=7)
    assert notes == "User: Every morning I take aspirin."
