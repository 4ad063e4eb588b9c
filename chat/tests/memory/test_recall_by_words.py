"""What was said long ago comes back when the new message asks for it in the same words."""

import pytest

from chat.memory import prompt_for
from chat.models import Message
from chat.tests.memory.fakes import ask, converse, fake, in_thread
from chat.tests.memory.recalling import old_talk, recalled

pytestmark = pytest.mark.django_db(transaction=True)


async def answer(last, question):
    return recalled(await prompt_for(await in_thread(ask)(last, question), fake()))


async def test_a_fact_comes_back_with_what_was_said_to_it(alice):
    last = await in_thread(old_talk)(alice, "The wifi password is tulip-77.", "I keep it in mind.")
    lines = await answer(last, "What was the wifi password again?")
    assert lines == ["User: The wifi password is tulip-77.", "Assistant: I keep it in mind."]


async def test_it_stands_before_the_new_message_with_its_day(alice):
    last = await in_thread(old_talk)(alice, "The wifi password is tulip-77.", "Noted.")
    await last.conversation.messages.filter(text__contains="wifi").aupdate(created_at="2026-02-03T12:00:00Z")
    prompt = await prompt_for(await in_thread(ask)(last, "The wifi password?"), fake())
    assert "> 2026-02-03 User: The wifi password" in prompt.messages[-2].text
    assert prompt.messages[-1].text == "The wifi password?"


WAYS = [
    ("My dogs are called Rex and Bella.", "Do you know how my dog is called?"),
    ("Das Kennwort für das Netz heißt Tulpe.", "Wie lautete noch mal das Kennwort?"),
    ("Mon café préféré est le Zola.", "Quel est mon cafe prefere ?"),
    ("我的狗叫小白。", "我的狗叫什么名字?"),
    ("私の犬の名前はポチです。", "犬の名前は何ですか?"),
    ("หมาของฉันชื่อบักแดง", "หมาของฉันชื่ออะไร"),
    ("मेरे कुत्ते का नाम मोती है", "मेरे कुत्ते का नाम क्या है?"),
    ("Мою собаку зовут Рекс.", "Как зовут мою собаку?"),
    ("Call `parse_row(line)` for it.", "What did parse_row do?"),
]


@pytest.mark.parametrize(("fact", "question"), WAYS)
async def test_words_are_found_in_other_forms_and_scripts(alice, fact, question):
    last = await in_thread(old_talk)(alice, "Hello there.", "Good day.", fact, "Noted.")
    assert f"User: {fact}" in await answer(last, question)


async def test_a_question_without_words_of_its_own_asks_for_those_of_the_last_turns(alice):
    early = await in_thread(old_talk)(alice, "The wifi password is tulip-77.", "Noted.")
    last = await in_thread(converse)(
        alice, "I have a question on the wifi password.", "Yes?", after=early, conversation=early.conversation
    )
    assert "User: The wifi password is tulip-77." in await answer(last, "What was that again?")


@pytest.mark.parametrize("talk", ["Thanks!", "Good morning, how are you?", "👍", '"'])
async def test_small_talk_recalls_nothing(alice, talk):
    last = await in_thread(old_talk)(alice, "The wifi password is tulip-77.", "Noted. Here is a joke.")
    assert await answer(last, talk) == []


async def test_a_fact_within_a_long_message_comes_without_the_rest(alice):
    story = "It was a dark and stormy night over the sea. " * 40
    last = await in_thread(old_talk)(alice, f"{story}Our wifi password is tulip-77. {story}", "Noted.")
    lines = await answer(last, "What is the wifi password?")
    assert "Our wifi password is tulip-77." in lines[0]
    assert len(lines[0]) < 300


async def test_nothing_is_recalled_that_is_shown_anyway(alice):
    last = await in_thread(converse)(alice, "The wifi password is tulip-77.", "Noted.")
    assert await answer(last, "The wifi password?") == []


async def test_a_pinned_message_is_not_recalled_as_well(alice):
    last = await in_thread(old_talk)(alice, "The wifi password is tulip-77.", "Noted.")
    await Message.objects.filter(text__contains="wifi").aupdate(pinned=True)
    assert await answer(last, "The wifi password?") == []


async def test_what_is_trimmed_because_no_summary_is_written_yet_is_recalled(alice):
    last = await in_thread(old_talk)(alice, "The wifi password is tulip-77.", "Noted.")
    await last.conversation.summaries.all().adelete()
    prompt = await prompt_for(await in_thread(ask)(last, "The wifi password?"), fake(context_tokens=400))
    assert "User: The wifi password is tulip-77." in recalled(prompt)
