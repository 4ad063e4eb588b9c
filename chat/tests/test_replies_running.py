"""The register of running replies finds a reply only through its conversation, and forgets it when it is dropped."""

from uuid import uuid4

from chat.replies import Reply, Running


def test_a_reply_is_found_through_its_own_conversation_alone():
    running, home = Running(), uuid4()
    reply = Reply(1, conversation=home, owner=1)
    running.add(reply)
    assert running.get(1, home) is reply
    assert running.get(1, uuid4()) is None
    assert running.get(2, home) is None


def test_dropping_forgets_that_reply_and_no_newer_one_of_its_number():
    running, home = Running(), uuid4()
    old, new = (Reply(1, conversation=home, owner=1) for _ in range(2))
    running.add(old)
    running.add(new)
    running.drop(old)
    assert running.get(1, home) is new
    running.drop(new)
    running.drop(new)
    assert list(running) == []


def test_those_who_wait_are_counted_for_one_person_and_for_all():
    running = Running()
    for pk, (owner, position) in enumerate([(1, 2), (1, 0), (2, 1)]):
        reply = Reply(pk, conversation=uuid4(), owner=owner)
        reply.wait_at(position, 10 * position)
        running.add(reply)
    assert (running.waiting(1), running.waiting(2), running.waiting()) == (1, 1, 2)
    assert (running.soonest(1), running.soonest(), running.soonest(3)) == (20, 10, 1)
