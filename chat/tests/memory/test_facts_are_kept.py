"""Facts about a person are kept once he wants that, follow him into new conversations, and go when he says so."""

import pytest

from chat import memory
from chat.memory import facts
from chat.memory.branch import read_question
from chat.models import Conversation, Fact
from chat.tests.memory.fakes import ask, converse, fake, in_thread

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def alice(alice):
    alice.remembers_facts = True
    alice.save()
    return alice


def told(owner, *texts):
    """What is known after the person has said these, each in a conversation of its own."""
    for text in texts:
        leaf = converse(owner, text, "I see.")
        facts.learn(leaf.conversation_id, leaf.pk)
    return list(Fact.objects.filter(owner=owner).values_list("text", flat=True))


def test_nothing_is_kept_until_it_is_switched_on(bob):
    assert told(bob, "My name is Bob Miller.") == []


def test_a_fact_names_its_source(alice):
    told(alice, "Hi! My name is Ann. How are you?")
    fact = Fact.objects.get()
    assert (fact.text, fact.kind, fact.source.text) == ("My name is Ann.", "name", "Hi! My name is Ann. How are you?")


def test_the_same_is_kept_once_and_a_newer_value_replaces_the_older(alice):
    assert told(alice, "I live in Lisbon.", "I live in Lisbon!", "I live in Oslo now.") == ["I live in Oslo now."]
    assert told(alice, "I like tea.", "I like coffee.")[1:] == ["I like tea.", "I like coffee."]


def test_the_list_is_bounded_and_what_a_person_corrected_stays(alice):
    kept = Fact.objects.create(owner=alice, text="I am a nurse.", corrected=True)
    for number in range(facts.MOST + 5):
        Fact.objects.create(owner=alice, text=f"I have {number} of these.")
    told(alice, "I live in Lisbon.")
    assert Fact.objects.filter(owner=alice).count() == facts.MOST
    assert Fact.objects.filter(pk=kept.pk).exists()


async def test_a_new_conversation_begins_with_what_is_known_and_keeps_it(alice, bob):
    known = await in_thread(told)(alice, "My name is Ann.", "I live in Lisbon.")
    await in_thread(Fact.objects.create)(owner=bob, text="My secret canary is Bob.")
    talk = await in_thread(Conversation.make)(alice)
    await memory.choose_facts(talk, fake(context_tokens=2048))
    await in_thread(told)(alice, "I have a cat.")
    reply = await in_thread(lambda: ask(converse(alice, "Hi.", "Hello.", conversation=talk)))()
    prompt = await memory.prompt_for(reply, fake(context_tokens=2048))
    assert prompt.messages[1].text.splitlines()[1:] == [f"> {text}" for text in known]
    assert "cat" not in str(prompt.messages)
    assert "canary" not in str(prompt.messages)


async def test_what_has_no_room_is_left_out_the_oldest_first(alice):
    for number in range(40):
        await in_thread(Fact.objects.create)(owner=alice, text=f"I have {number} of these.")
    talk = await in_thread(Conversation.make)(alice)
    model = fake(context_tokens=640)
    await memory.choose_facts(talk, model)
    newest = await in_thread(lambda: list(Fact.objects.values_list("pk", flat=True)))()
    assert 0 < len(talk.facts) < 40
    assert talk.facts == newest[-len(talk.facts) :]


@pytest.mark.parametrize("gone", ["deleted", "switched off"])
def test_a_fact_that_is_gone_is_in_no_prompt(alice, gone):
    told(alice, "My name is Ann.")
    talk = Conversation.make(alice)
    talk.facts = [Fact.objects.get().pk]
    talk.save()
    if gone == "deleted":
        Fact.objects.all().delete()
    else:
        type(alice).objects.filter(pk=alice.pk).update(remembers_facts=False)
    reply = ask(converse(alice, "Hi.", "Hello.", conversation=talk))
    assert read_question(reply, "fake").layout.facts == ()


def test_a_fact_goes_with_its_source(alice):
    told(alice, "My name is Ann.")
    Conversation.objects.all().delete()
    assert not Fact.objects.exists()
