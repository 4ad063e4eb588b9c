"""Who gets a slot, and who reads how much in a step."""

import pytest

from chat.inference.batch import Outcome
from chat.inference.request import Priority, QueueFull, Request, SamplingParams
from chat.inference.scheduler import Scheduler
from chat.inference.slots import SlotTable


def scheduler(slots=2, *, batch=64, busy_batch=8, limit=100, limit_person=100):
    table = SlotTable(slots, lambda slot, keep: keep)
    return Scheduler(table, batch=batch, busy_batch=busy_batch, limit=limit, limit_person=limit_person)


def ask(owner="alice", length=10, priority=Priority.PERSON):
    return Request(list(range(length)), SamplingParams(), owner=owner, cache_key=owner, priority=priority)


def run(plan, *, token=99):
    """One step in which everything goes well; returns the works by owner: how many tokens each read."""
    batch = plan.schedule()
    held = {work.slot: work.start + len(work.tokens) for work in batch.works}
    sampled = {work.slot: token for work in batch.works if work.samples}
    for request, new in plan.commit(batch, Outcome(sampled, held)):
        request.tokens.append(new)
    return {work.request.owner: len(work.tokens) for work in batch.works}


def test_people_take_turns():
    plan = scheduler(slots=1)
    for owner in ("alice", "alice", "alice", "bob"):
        plan.add(ask(owner))
    assert [request.owner for request in plan.waiting] == ["alice", "bob", "alice", "alice"]


def test_who_was_served_last_comes_last():
    plan = scheduler(slots=1)
    first = ask("alice")
    plan.add(first)
    plan.admit()
    plan.add(ask("alice"))
    plan.add(ask("bob"))
    plan.remove(first)
    assert plan.admit()[0].owner == "bob"


def test_a_long_prompt_is_read_in_small_pieces_while_somebody_writes():
    plan = scheduler(batch=64, busy_batch=8)
    plan.add(ask("alice", length=4))
    plan.admit()
    assert run(plan) == {"alice": 4}
    plan.add(ask("bob", length=100))
    plan.admit()
    assert run(plan) == {"alice": 1, "bob": 8}


def test_a_long_prompt_is_read_in_large_pieces_while_nobody_writes():
    plan = scheduler(batch=64)
    plan.add(ask("bob", length=100))
    plan.admit()
    assert run(plan) == {"bob": 64}
    assert run(plan) == {"bob": 36}


def test_who_came_first_is_read_first():
    plan = scheduler(batch=64)
    plan.add(ask("alice", length=60))
    plan.add(ask("bob", length=60))
    plan.admit()
    assert run(plan) == {"alice": 60, "bob": 4}


def test_a_prompt_large_enough_for_a_step_has_it_alone():
    plan = scheduler(slots=2, batch=512)
    plan.add(ask("alice", length=100))
    plan.add(ask("bob", length=100))
    plan.admit()
    assert run(plan) == {"alice": 100}


def test_small_rests_share_a_step():
    plan = scheduler(slots=2, batch=512)
    plan.add(ask("alice", length=20))
    plan.add(ask("bob", length=30))
    plan.admit()
    assert run(plan) == {"alice": 20, "bob": 30}


def test_a_short_prompt_is_read_at_once_beside_those_who_write():
    plan = scheduler(slots=2, busy_batch=8)
    plan.add(ask("alice", length=1))
    plan.admit()
    run(plan)
    plan.add(ask("bob", length=24))
    plan.admit()
    assert run(plan) == {"alice": 1, "bob": 24}


def test_of_those_who_come_together_the_shortest_is_read_first_and_nobody_overtakes_who_came_before():
    plan = scheduler(slots=4, batch=64)
    plan.add(ask("early", length=300))
    plan.admit()
    for owner, length in (("long", 200), ("short", 70), ("middle", 100)):
        plan.add(ask(owner, length=length))
    plan.admit()
    assert [request.owner for request in plan.running] == ["early", "short", "middle", "long"]


def test_a_step_goes_through_its_slots_in_order():
    plan = scheduler(slots=3)
    for owner in ("alice", "bob", "carol"):
        plan.add(ask(owner))
    first, second, third = plan.admit()
    plan.running[:] = [third, first, second]
    assert [work.slot for work in plan.schedule().works] == [0, 1, 2]


def test_an_interrupted_step_is_done_again():
    plan = scheduler()
    request = ask("alice", length=10)
    plan.add(request)
    plan.admit()
    batch = plan.schedule()
    assert plan.commit(batch, Outcome(held={request.slot: 6})) == []
    assert plan.slots[request.slot].tokens == list(range(6))
    assert run(plan) == {"alice": 4}


def test_background_work_waits_for_people_and_gives_its_slot_to_them():
    plan = scheduler(slots=1)
    summary = ask("alice", priority=Priority.SUMMARY)
    plan.add(summary)
    assert plan.admit() == [summary]
    plan.add(ask("bob"))
    assert plan.give_way() == [summary]


def test_background_work_pauses_while_a_person_is_served():
    plan = scheduler(slots=2)
    plan.add(ask("alice", priority=Priority.SUMMARY))
    plan.admit()
    plan.add(ask("bob"))
    plan.admit()
    assert run(plan) == {"bob": 10}


def test_background_work_does_not_begin_while_a_person_is_served():
    plan = scheduler(slots=2)
    plan.add(ask("bob"))
    plan.admit()
    plan.add(ask("alice", priority=Priority.SUMMARY))
    assert plan.admit() == []


def test_a_full_queue_refuses_one_more_and_says_when_to_come_back():
    plan = scheduler(slots=1, limit=1)
    plan.add(ask("alice"))
    plan.add(ask("bob"))
    plan.admit()
    with pytest.raises(QueueFull) as refused:
        plan.add(ask("carol"))
    assert 1 <= refused.value.retry_after <= 120
    assert not refused.value.personal


def test_one_person_cannot_fill_the_queue():
    plan = scheduler(slots=1, limit_person=2)
    plan.add(ask("alice"))
    plan.admit()
    plan.add(ask("alice"))
    plan.add(ask("alice"))
    with pytest.raises(QueueFull) as refused:
        plan.add(ask("alice"))
    assert refused.value.personal
    plan.add(ask("bob"))
