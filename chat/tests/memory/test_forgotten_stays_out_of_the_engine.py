"""What vanishes while memory is at work does not come back to the engine's caches, or leaves them again."""

import pytest

from chat.inference.request import Preempted
from chat.memory import Keeper, prewarm
from chat.memory.forgetting import forget
from chat.tests.memory.fakes import FakeChat, fake, in_thread, long_talk

pytestmark = pytest.mark.django_db(transaction=True)
SUMMARY = "The user asked for stories about a lighthouse."


class Reading(FakeChat):
    """In which something happens while it reads ahead."""

    async def prewarm(self, messages, **kwargs):
        await self.script[0]()
        return True


@pytest.fixture
def leaf(alice):
    return long_talk(alice)


@pytest.fixture(params=["forgotten", "deleted"])
def vanish(request, leaf):
    """Makes the first message vanish."""

    async def vanish():
        if request.param == "deleted":
            await in_thread(leaf.conversation.delete)()
        else:
            first = await leaf.conversation.messages.afirst()
            await in_thread(forget)(leaf.conversation, first.pk, with_answers=True)

    return vanish


async def keep(leaf, model):
    await Keeper(first_pause=0).after_reply(leaf.conversation_id, leaf.pk, model)


async def test_a_summary_that_gave_way_is_not_asked_for_with_it_again(leaf, vanish):
    async def gives_way():
        await vanish()
        return Preempted("later")

    model = fake(gives_way, SUMMARY)
    await keep(leaf, model)
    assert len(model.asked) <= 2
    for messages, _ in model.asked[1:]:
        assert "Rex" not in "".join(message.text for message in messages)


async def test_a_summary_that_may_have_come_later_leaves_the_caches(leaf, vanish):
    async def answers():
        await vanish()
        return SUMMARY

    model = fake(answers, SUMMARY)
    await keep(leaf, model)
    assert model.forgotten == [str(leaf.conversation_id)]


async def test_what_was_read_ahead_leaves_the_caches(leaf, vanish):
    model = Reading(script=[vanish], asked=[], prewarmed=[], forgotten=[], context_tokens=4096)
    await prewarm(leaf.conversation_id, leaf.pk, model)
    assert model.forgotten == [str(leaf.conversation_id)]


async def test_what_stays_stays_in_the_caches(leaf):
    model = fake(Preempted("later"), SUMMARY)
    await keep(leaf, model)
    await prewarm(leaf.conversation_id, leaf.pk, model)
    assert model.forgotten == []
