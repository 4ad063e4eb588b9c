"""A conversation is a tree: a stale tab, a retry and a choice of branch lose nothing, and every tab is told."""

from uuid import uuid4

import pytest

from chat.models import Conversation, Message

pytestmark = pytest.mark.django_db(transaction=True)


async def test_a_send_from_a_stale_tab_makes_a_branch_with_a_notice_and_loses_nothing(open_tab):
    stale, other = await open_tab(), await open_tab()
    last = first = await other.ask("first")
    for turn in range(3):
        last = await other.ask(f"turn {turn}", parent=last["id"])
    await stale.say("from the past", parent=first["id"])
    branched = await stale.get("branched")
    mine = await Message.objects.aget(text="from the past")
    assert (branched["message"], branched["parent"]) == (mine.pk, first["id"])
    moved = await other.get("head.changed")
    assert (await Conversation.objects.aget()).head_id == moved["head"]
    assert await Message.objects.acount() == 10
    assert await Message.objects.filter(pk=last["id"], status="complete").aexists()


async def test_a_message_that_goes_on_from_the_end_is_no_branch(open_tab):
    tab = await open_tab()
    reply = await tab.ask()
    await tab.say("on", parent=reply["id"])
    assert "branched" not in [frame["type"] for frame in await tab.until("reply.done")]


async def test_a_retry_stands_beside_the_old_reply_and_is_shown(open_tab):
    tab, other = await open_tab(), await open_tab()
    old = await tab.ask()
    await other.get("reply.done")
    await tab.send_json_to({"type": "reply.retry", "reply": old["id"], "client_id": str(uuid4())})
    new = (await tab.get("reply.done"))["message"]
    assert (new["parent"], new["id"] > old["id"]) == (old["parent"], True)
    kinds = [frame["type"] for frame in await other.until("head.changed")]
    assert "reply.started" in kinds
    assert "message.created" not in kinds
    assert (await Conversation.objects.aget()).head_id == new["id"]


async def test_showing_a_branch_takes_its_newest_leaf_and_tells_every_tab(open_tab):
    tab, other = await open_tab(), await open_tab()
    one = await tab.ask("one")
    one_more = await tab.ask("one more", parent=one["id"])
    two = await tab.ask("two", parent=None)
    assert (await Conversation.objects.aget()).head_id == two["id"]
    await tab.send_json_to({"type": "branch.show", "message": one["parent"]})
    for page in (tab, other):
        while (moved := await page.get("head.changed"))["head"] != one_more["id"]:
            continue
    assert (await Conversation.objects.aget()).head_id == moved["head"]
