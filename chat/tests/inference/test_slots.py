"""A slot keeps its conversation's tokens, and never another one's."""

from hypothesis import given
from hypothesis import strategies as st

from chat.inference import SamplingParams
from chat.inference.request import Request
from chat.inference.slots import SlotTable, common_prefix


def ask(prompt, key="a", num_shared=0):
    return Request(list(prompt), SamplingParams(), cache_key=key, num_shared=num_shared)


def table(count=2):
    return SlotTable(count, lambda slot, keep: keep)


def fill(slots, request):
    slot = slots.take(request)
    slots.record(slot.index, len(request.prompt), request.prompt)
    slots.give_back(request)
    return slot.index


def test_the_next_turn_reads_only_what_is_new():
    slots = table()
    fill(slots, ask([1, 2, 3]))
    following = ask([1, 2, 3, 4, 5])
    slots.take(following)
    assert following.num_cached == 3


def test_the_last_token_is_always_read_again():
    slots = table()
    fill(slots, ask([1, 2, 3]))
    again = ask([1, 2, 3])
    slots.take(again)
    assert again.num_cached == 2


def test_another_conversation_reuses_only_the_part_that_everybody_shares():
    slots = table(1)
    fill(slots, ask([1, 2, 3, 4], key="a", num_shared=2))
    other = ask([1, 2, 3, 4, 5], key="b", num_shared=2)
    slots.take(other)
    assert other.num_cached == 2


def test_requests_without_a_conversation_share_nothing():
    slots = table(1)
    fill(slots, ask([1, 2, 3], key=""))
    other = ask([1, 2, 3, 4], key="")
    slots.take(other)
    assert other.num_cached == 0


def test_a_new_conversation_takes_the_slot_that_was_unused_for_longest():
    slots = table(3)
    first = fill(slots, ask([1], key="a"))
    fill(slots, ask([2], key="b"))
    fill(slots, ask([3], key="c"))
    assert fill(slots, ask([4], key="d")) == first


def test_there_is_none_when_all_are_taken():
    slots = table(1)
    slots.take(ask([1]))
    assert slots.take(ask([2])) is None


def test_a_cache_that_cannot_be_cut_is_read_again_whole():
    slots = SlotTable(1, lambda slot, keep: 0)
    fill(slots, ask([1, 2, 3]))
    changed = ask([1, 2, 9, 9])
    slot = slots.take(changed)
    assert changed.num_cached == 0
    assert slot.tokens == []


@given(st.lists(st.integers(0, 3)), st.lists(st.integers(0, 3)))
def test_the_common_prefix_is_common_and_cannot_be_longer(left, right):
    length = common_prefix(left, right)
    assert left[:length] == right[:length]
    assert left[length : length + 1] != right[length : length + 1] or length in (len(left), len(right))
