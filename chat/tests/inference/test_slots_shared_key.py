"""One key for several conversations: each keeps its slot, and what begins alike is read once."""

from chat.inference import GREEDY, Request
from chat.inference.slots import SlotTable


def table(count=3):
    return SlotTable(count, lambda index, keep: keep)


def spoken(slots, tokens, key="alice"):
    """One request that was answered; returns its slot and how much of it was there."""
    request = Request(list(tokens), GREEDY, cache_key=key, one_conversation=False)
    slot = slots.take(request)
    slots.record(slot.index, len(tokens), request.tokens)
    slots.give_back(request)
    return slot.index, request.num_cached


def test_two_conversations_of_one_person_do_not_push_each_other_out():
    slots = table()
    hers, _ = spoken(slots, range(100))
    other, cached = spoken(slots, range(1000, 1100))
    assert (other == hers, cached) == (False, 0)
    assert spoken(slots, range(120)) == (hers, 100)
    assert spoken(slots, range(1000, 1120)) == (other, 100)


def test_questions_with_the_same_long_beginning_share_a_slot():
    slots = table()
    first, _ = spoken(slots, [*range(100), 7, 7])
    assert spoken(slots, [*range(100), 8, 8, 8]) == (first, 100)


def test_a_short_common_beginning_is_no_reason_to_lose_a_long_conversation():
    slots = table()
    long, _ = spoken(slots, range(100))
    assert spoken(slots, [*range(20), *range(500, 580)])[0] != long
    assert spoken(slots, range(110)) == (long, 100)


def test_nothing_is_shared_between_people():
    slots = table(1)
    spoken(slots, range(100))
    assert spoken(slots, range(100), key="bob") == (0, 0)
