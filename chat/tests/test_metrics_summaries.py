"""Summaries are counted by who wrote them."""

import pytest

from chat.memory import Keeper
from chat.metrics.figures import figures
from chat.tests.memory.fakes import fake, in_thread, long_talk

pytestmark = pytest.mark.django_db(transaction=True)


def counted(author):
    return figures.registry.get_sample_value("chat_summaries_total", {"author": author}) or 0


@pytest.mark.parametrize(
    ("answer", "author"),
    [("The user has a dog called Rex, 5 years old, and asked about a lighthouse.", "model"), ("", "extract")],
)
async def test_a_summary_that_is_stored_is_counted(alice, answer, author):
    leaf, before = await in_thread(long_talk)(alice), counted(author)
    await Keeper(first_pause=0).after_reply(leaf.conversation_id, leaf.pk, fake(answer))
    assert counted(author) == before + 1
    assert b'chat_summaries_total{author="%s"}' % author.encode() in figures.exposition()
