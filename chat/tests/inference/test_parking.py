"""A conversation that loses its slot comes back from memory, for itself alone and within the budget."""

import pytest

from chat.inference import GREEDY, Request
from chat.inference.batch import Batch, Work
from chat.inference.parking import Parking
from chat.inference.slots import SlotTable
from chat.inference.testing import ScriptedRunner

SMALL, LARGE = 8 * 250, 1_000_000  # bytes; a token takes eight


class Desk:
    """A runner with slots and parking, and requests that are answered at once."""

    def __init__(self, budget=LARGE, slots=1, **options):
        self.runner = ScriptedRunner(slots=slots, **options)
        self.parking = Parking(self.runner, budget)
        self.slots = SlotTable(slots, self.runner.trim, self.parking)

    def ask(self, tokens, key="alice", **options):
        """One request from its slot to its end; returns it."""
        request = Request(list(tokens), GREEDY, cache_key=key, **options)
        slot = self.slots.take(request)
        self.runner.open_sampler(slot.index, GREEDY, [])
        work = Work(request, slot.index, request.num_computed, request.pending, samples=False)
        held = self.runner.decode(Batch((work,))).held[slot.index]
        self.slots.record(slot.index, held, request.tokens)
        self.slots.give_back(request)
        assert all(slot.tokens == self.runner.cache(slot.index) for slot in self.slots)
        return request


def test_it_comes_back_with_all_its_tokens():
    desk = Desk()
    desk.ask(range(100))
    desk.ask(range(1000, 1100), key="bob")
    again = desk.ask(range(120))
    assert (again.num_cached, again.num_restored) == (100, 100)
    assert desk.parking.num_restored == 1
    assert desk.ask(range(1000, 1110), key="bob").num_restored == 100


@pytest.mark.parametrize(
    ("held", "asked", "cached"), [(400, 452, 387), (400, 440, 400), (400, 465, 400), (100, 152, 100)]
)
def test_behind_a_long_text_a_full_piece_is_read_rather_than_most_of_one(held, asked, cached):
    desk = Desk()
    desk.ask(range(held))
    assert desk.ask(range(asked)).num_cached == cached


def test_a_state_that_cannot_be_cut_is_not_cut_for_a_full_piece():
    desk = Desk(can_trim=False)
    desk.ask(range(400))
    assert desk.ask(range(452)).num_cached == 400


def test_only_what_still_holds_is_used_of_it():
    desk = Desk()
    desk.ask(range(200))
    desk.ask(range(1000, 1100), key="bob")
    assert desk.ask([*range(150), 7, 8, 9]).num_restored == 150


def test_nobody_else_gets_it_even_for_the_same_words():
    desk = Desk()
    desk.ask(range(200))
    desk.ask(range(1000, 1100), key="bob")
    assert desk.ask(range(210), key="carol").num_cached == 0


def test_without_a_key_nothing_is_parked():
    desk = Desk()
    desk.ask(range(200), key="")
    desk.ask(range(1000, 1100), key="bob")
    assert desk.parking.num_parked == 0
    assert desk.ask(range(210), key="").num_cached == 0


def test_what_everybody_shares_is_no_reason_to_park():
    desk = Desk()
    desk.ask(range(200), num_shared=190)
    desk.ask([*range(190), 7, 8, 9], key="bob", num_shared=190)
    assert desk.parking.num_parked == 0


def test_a_conversation_in_its_slot_is_not_parked_when_it_changes():
    desk = Desk()
    desk.ask(range(200))
    desk.ask(range(500, 700))
    assert desk.parking.num_parked == 0


def test_the_budget_holds_and_the_oldest_goes_first():
    desk = Desk(budget=SMALL)
    for number, name in enumerate("abcd"):
        desk.ask(range(1000 * number, 1000 * number + 100), key=name)
        assert desk.parking.num_bytes <= SMALL
    assert desk.parking.num_parked == 2
    assert desk.ask(range(110), key="a").num_restored == 0
    assert desk.ask(range(2000, 2110), key="c").num_restored == 100


def test_what_is_larger_than_the_budget_pushes_nothing_out():
    desk = Desk(budget=SMALL)
    desk.ask(range(100), key="a")
    desk.ask(range(1000, 1300), key="b")
    desk.ask(range(2000, 2100), key="c")
    assert desk.parking.num_parked == 1
    assert desk.ask(range(110), key="a").num_restored == 100


def test_without_a_budget_nothing_is_copied():
    desk = Desk(budget=0)
    desk.runner.park = pytest.fail
    desk.ask(range(200))
    assert desk.ask(range(1000, 1100), key="bob").num_cached == 0


def test_several_conversations_under_one_key_are_told_apart():
    desk = Desk()
    for start in (0, 1000, 2000):
        desk.ask(range(start, start + 100), one_conversation=False)
    assert desk.ask(range(1000, 1110), one_conversation=False).num_restored == 100
    assert desk.ask(range(110), one_conversation=False).num_restored == 100


def test_a_longer_copy_stands_for_the_shorter_one():
    desk = Desk()
    desk.ask(range(100), one_conversation=False)
    desk.ask(range(5000, 5100), key="bob")
    desk.parking.add(desk.parking.take(Request(list(range(110)), GREEDY, cache_key="alice"), 0))
    copy = desk.parking._parked[0]
    desk.parking.add(type(copy)("alice", list(range(150)), memoryview(bytes(8 * 150))))
    assert (desk.parking.num_parked, desk.parking.num_bytes) == (1, 8 * 150)


def test_a_copy_that_cannot_be_used_leaves_an_empty_slot():
    desk = Desk()
    desk.ask(range(100))
    desk.ask(range(1000, 1100), key="bob")
    desk.runner.unpark = lambda slot, state: 0
    again = desk.ask(range(120))
    assert (again.num_cached, again.num_restored) == (0, 0)


def test_a_copy_that_turns_out_shorter_leaves_an_empty_slot():
    desk = Desk()
    desk.ask(range(100))
    desk.ask(range(1000, 1100), key="bob")
    unpark = desk.runner.unpark
    desk.runner.unpark = lambda slot, state: unpark(slot, state[:-8])
    assert desk.ask(range(120)).num_cached == 0


def test_a_model_that_cannot_cut_takes_a_copy_whole_or_not_at_all():
    desk = Desk(can_trim=False)
    desk.ask(range(100))
    desk.ask(range(1000, 1100), key="bob")
    assert desk.ask([*range(80), 7, 8]).num_cached == 0
    assert desk.ask(range(1000, 1110), key="bob").num_restored == 100


def test_a_forgotten_conversation_does_not_come_back():
    desk = Desk()
    desk.ask(range(100))
    desk.ask(range(1000, 1100), key="bob")
    desk.parking.forget("alice")
    assert desk.ask(range(120)).num_cached == 0
    assert desk.parking.num_bytes == 8 * 100  # bob's


def test_what_was_fetched_for_a_request_that_gives_up_is_kept():
    desk = Desk()
    desk.ask(range(100))
    desk.ask(range(1000, 1100), key="bob")
    waiting = Request(list(range(120)), GREEDY, cache_key="alice")
    waiting.fetched = desk.parking.take(waiting, 0)
    desk.slots.give_up(waiting)
    assert desk.ask(range(120)).num_restored == 100


def test_what_was_fetched_for_a_forgotten_conversation_is_not_used():
    desk = Desk()
    desk.ask(range(100))
    desk.ask(range(1000, 1100), key="bob")
    waiting = Request(list(range(120)), GREEDY, cache_key="alice", num_shared=0)
    waiting.fetched, waiting.is_forgotten = desk.parking.take(waiting, 0), True
    desk.slots.take(waiting)
    assert waiting.num_cached == 0


def test_who_comes_gets_a_slot_beside_those_at_work():
    desk = Desk(slots=4)
    for place, key in enumerate("abcd"):
        assert desk.slots.take(Request([1], GREEDY, cache_key=key)).index == place
    running = desk.slots[2].request
    for slot in list(desk.slots):
        if slot.request is not running:
            desk.slots.give_back(slot.request)
    assert desk.slots.take(Request([1], GREEDY, cache_key="new")).index == 1
