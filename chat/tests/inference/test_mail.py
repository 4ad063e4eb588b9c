"""Events wait for the flush, then each loop gets all of its own in order, in one go."""

import asyncio

from chat.inference.mail import Mail


async def test_nothing_comes_before_the_flush_and_all_of_it_after_in_order():
    mail, got = Mail(), []
    box = mail.box(got.append, lambda: None)
    await asyncio.to_thread(box, 1)
    await asyncio.to_thread(box, 2)
    await asyncio.sleep(0)
    assert got == []
    await asyncio.to_thread(mail.flush)
    assert got == [1, 2]


async def test_what_comes_soon_after_a_flush_may_wait_for_the_next():
    mail, got = Mail(), []
    box = mail.box(got.append, lambda: None)
    mail.flush(within=60)
    box(1)
    mail.flush(within=60)
    await asyncio.sleep(0)
    assert got == []
    box(2)
    mail.flush()
    await asyncio.sleep(0)
    assert got == [1, 2]


async def test_a_loop_wakes_once_for_all_of_its_boxes(monkeypatch):
    mail, got, wakes = Mail(), [], []
    loop = asyncio.get_running_loop()
    boxes = [mail.box(got.append, lambda: None) for _ in range(3)]
    monkeypatch.setattr(loop, "call_soon_threadsafe", lambda *call: wakes.append(call))
    for place, box in enumerate(boxes):
        box(place)
    mail.flush()
    mail.flush()
    assert len(wakes) == 1
    wakes[0][0](*wakes[0][1:])
    assert got == [0, 1, 2]


def test_who_listens_in_a_closed_loop_is_told_to_the_engine():
    mail, closed, got = Mail(), [], []

    async def listen():
        return mail.box(got.append, lambda: closed.append(True))

    box = asyncio.run(listen())
    box("late")
    mail.flush()
    assert (closed, got) == ([True], [])
