"""A prompt holds its own branch and nothing else: the right summary, and only what was really said."""

import pytest

from chat.memory import MessageTooLong, check_fits, prompt_for
from chat.models import Message, Summary
from chat.tests.memory.fakes import ask, converse, fake, in_thread

pytestmark = pytest.mark.django_db(transaction=True)


def texts(prompt):
    return [message.text for message in prompt.messages]


def kinds(prompt):
    return [part.kind for part in prompt.parts]


async def test_the_order_is_the_trees(alice):
    first = await in_thread(converse)(alice, "One?", "Two.")
    here = await in_thread(converse)(alice, "Three?", "Four.", after=first, conversation=first.conversation)
    await in_thread(converse)(alice, "Elsewhere?", "There.", after=first, conversation=first.conversation)
    prompt = await prompt_for(await in_thread(ask)(here, "Five?"), fake())
    assert texts(prompt) == ["Be kind.", "One?", "Two.", "Three?", "Four.", "Five?"]
    assert kinds(prompt) == ["system", "turns", "message"]
    assert prompt.num_tokens == fake().count(prompt.messages) == sum(part.num_tokens for part in prompt.parts)


async def test_no_word_of_another_conversation(alice, bob):
    for person in (alice, bob):
        await in_thread(converse)(person, "The canary sings.", "Tweet.")
    last = await in_thread(converse)(alice, "Hello.", "Hi.")
    await in_thread(lambda: last.conversation.summaries.create(covers_until=last, text="x", author="extract"))()
    prompt = await prompt_for(await in_thread(ask)(last), fake())
    assert "canary" not in " ".join(texts(prompt))


ENDINGS = [
    ("failed", "", False),
    ("stopped", "Half a", True),
    ("interrupted", "Half a", True),
    ("interrupted", "", False),
    ("complete", " ", False),
    ("streaming", "Half a", False),
]


@pytest.mark.parametrize(("status", "text", "shown"), ENDINGS)
async def test_replies_stand_as_they_ended(alice, status, text, shown):
    reply = await in_thread(converse)(alice, "One?", "x")
    await Message.objects.filter(pk=reply.pk).aupdate(status=status, text=text, reasoning="secret thoughts")
    prompt = await prompt_for(await in_thread(ask)(reply, "Two?"), fake())
    assert texts(prompt) == ["Be kind.", "One?", *([text] if shown else []), "Two?"]


async def test_sampled_tokens_come_along_for_the_same_model_alone(alice):
    reply = await in_thread(converse)(alice, "One?", "Two.")
    await Message.objects.filter(pk=reply.pk).aupdate(token_ids=b"\1\0\0\0", fingerprint="fake")
    question = await in_thread(ask)(reply)
    same, other = await prompt_for(question, fake()), await prompt_for(question, fake(fingerprint="other"))
    assert same.messages[2].additional_kwargs == {"token_ids": b"\1\0\0\0", "fingerprint": "fake"}
    assert other.messages[2].additional_kwargs == {}


async def test_each_branch_has_its_own_summary(alice):
    trunk = await in_thread(converse)(alice, "One?", "Two.", "Three?", "Four.")
    talk = trunk.conversation
    left = await in_thread(converse)(alice, "Left?", "Left.", after=trunk, conversation=talk)
    right = await in_thread(converse)(alice, "Right?", "Right.", after=trunk, conversation=talk)
    common = await talk.summaries.acreate(covers_until=trunk, text="User: Common.", author="extract")
    await talk.summaries.acreate(covers_until=left, grown_from=common, text="User: Left.", author="model")
    left_prompt = await prompt_for(await in_thread(ask)(left), fake())
    right_prompt = await prompt_for(await in_thread(ask)(right), fake())
    assert "> User: Left." in left_prompt.messages[1].text
    assert kinds(left_prompt) == ["system", "summary", "message"]
    assert "> User: Common." in right_prompt.messages[1].text
    assert texts(right_prompt)[2:] == ["Right?", "Right.", "And now?"]
    assert right_prompt.parts[1].summary == common.pk


async def test_the_newest_of_two_summaries_at_one_place_is_used(alice):
    last = await in_thread(converse)(alice, "One?", "Two.")
    for text in ("Old.", "Corrected."):
        await last.conversation.summaries.acreate(covers_until=last, text=text, author="person")
    prompt = await prompt_for(await in_thread(ask)(last), fake())
    assert "> Corrected." in prompt.messages[1].text


async def test_deleting_the_message_that_a_summary_reaches_brings_the_older_one_back(alice):
    early = await in_thread(converse)(alice, "One?", "Two.")
    talk = early.conversation
    late = await in_thread(converse)(alice, "Three?", "Four.", after=early, conversation=talk)
    first = await talk.summaries.acreate(covers_until=early, text="User: First.", author="extract")
    await talk.summaries.acreate(covers_until=late, grown_from=first, text="User: Second.", author="extract")
    await late.adelete()
    question = await Message.objects.aget(text="Three?")
    reply = await talk.messages.acreate(parent=question, role="assistant", status="queued")
    prompt = await prompt_for(reply, fake())
    assert [row.text async for row in Summary.objects.all()] == ["User: First."]
    assert prompt.parts[1].messages == (early.parent_id, early.pk)
    assert texts(prompt)[2:] == ["Three?"]


async def test_retrying_a_reply_within_the_summary_uses_none_of_it(alice):
    last = await in_thread(converse)(alice, "One?", "Two.")
    await last.conversation.summaries.acreate(covers_until=last, text="Later.", author="extract")
    again = await last.conversation.messages.acreate(parent_id=last.parent_id, role="assistant", status="queued")
    assert texts(await prompt_for(again, fake())) == ["Be kind.", "One?"]


async def test_a_branch_that_is_gone_says_so(alice):
    reply = await in_thread(ask)(await in_thread(converse)(alice, "One?", "Two."))
    await Message.objects.filter(pk=reply.parent_id).adelete()
    with pytest.raises(Message.DoesNotExist):
        await prompt_for(reply, fake())


async def test_too_long_a_message_is_refused_before_anything_is_stored(alice):
    last = await in_thread(converse)(alice, "One?", "Two. " * 400)
    model = fake(context_tokens=512)
    await check_fits(last.conversation, last.pk, "word " * 371, model)
    with pytest.raises(MessageTooLong) as refused:
        await check_fits(last.conversation, last.pk, "word " * 372, model)
    assert (refused.value.needed, refused.value.available) == (372, 371)
    assert (await prompt_for(await in_thread(ask)(last, "word " * 371), model)).num_tokens == 384
