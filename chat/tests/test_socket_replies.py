"""How a reply may end: complete, stopped, failed with words; each can be tried again."""

import asyncio
from uuid import uuid4

import pytest

from chat.inference.request import EngineFailed, PromptTooLong, QueueFull
from chat.models import Message
from chat.tests.fakes import Thought

pytestmark = pytest.mark.django_db(transaction=True)


async def test_stop_keeps_what_was_written_and_ends_the_engines_work(open_tab, model):
    model.script = ("so far", asyncio.Event())
    tab = await open_tab()
    await tab.say()
    reply = (await tab.get("reply.delta"))["reply"]
    await tab.send_json_to({"type": "reply.stop", "reply": reply})
    done = (await tab.get("reply.done"))["message"]
    assert (done["status"], done["text"], done["html"].strip()) == ("stopped", "so far", "<p>so far</p>")
    assert done["usage"]["finish_reason"] == "cancelled"
    assert model.ended == 1
    row = await Message.objects.aget(pk=reply)
    assert (row.status, row.text, bytes(row.token_ids)) == ("stopped", "so far", b"")


async def test_a_reply_that_waits_tells_its_place_and_can_be_stopped(open_tab, model):
    model.script = (2, asyncio.Event())
    tab = await open_tab()
    await tab.say()
    queued = await tab.get("reply.queued")
    assert (queued["position"], queued["seconds"]) == (2, 20)
    await tab.send_json_to({"type": "reply.stop", "reply": queued["reply"]})
    done = (await tab.get("reply.done"))["message"]
    assert (done["status"], done["text"], model.ended) == ("stopped", "", 1)


async def test_stopping_what_has_ended_shows_the_end(open_tab):
    tab = await open_tab()
    reply = await tab.ask()
    await tab.send_json_to({"type": "reply.stop", "reply": reply["id"]})
    assert (await tab.get("reply.done"))["message"]["status"] == "complete"


async def test_no_token_at_all_is_a_visible_no_answer_and_retry_and_the_next_turn_work(open_tab, model):
    model.script = ("",)
    tab = await open_tab()
    failed = await tab.ask()
    assert failed["status"] == "failed"
    assert "no answer" in failed["error"]
    model.script = ("Now.",)
    await tab.send_json_to({"type": "reply.retry", "reply": failed["id"], "client_id": str(uuid4())})
    started = (await tab.get("reply.started"))["message"]
    again = (await tab.get("reply.done"))["message"]
    assert (again["text"], again["parent"], again["id"]) == ("Now.", failed["parent"], started["id"])
    assert await Message.objects.filter(pk=failed["id"], status="failed").aexists()
    assert (await tab.ask("next", parent=failed["id"]))["status"] == "complete"


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (EngineFailed("The engine met a bad number."), "bad number"),
        (PromptTooLong(2000, 1000), "1000"),
        (QueueFull(30, personal=True), "30 seconds"),
        (RuntimeError("secret detail"), "Something went wrong"),
    ],
)
async def test_a_failure_keeps_the_text_and_gives_a_reason_that_people_understand(open_tab, model, error, words):
    model.script = ("so far", error)
    failed = await (await open_tab()).ask()
    assert (failed["status"], failed["text"]) == ("failed", "so far")
    assert words in failed["error"]
    assert "secret" not in failed["error"]
    assert (await Message.objects.aget(pk=failed["id"])).error == failed["error"]


async def test_reasoning_is_streamed_and_kept_apart(open_tab, model):
    model.script = (Thought("hm, "), Thought("well"), "Yes.")
    tab = await open_tab()
    await tab.say()
    frames = await tab.until("reply.done")
    assert "".join(frame.get("reasoning", "") for frame in frames) == "hm, well"
    assert (frames[-1]["message"]["reasoning"], frames[-1]["message"]["text"]) == ("hm, well", "Yes.")


async def test_reasoning_without_an_answer_is_no_answer(open_tab, model):
    model.script = (Thought("hm"),)
    failed = await (await open_tab()).ask()
    assert (failed["status"], failed["reasoning"]) == ("failed", "hm")


async def test_a_part_of_200000_characters_on_one_line_arrives_whole(open_tab, model):
    model.script = ("x" * 200_000,)
    tab = await open_tab()
    await tab.say()
    frames = await tab.until("reply.done")
    assert sum(len(frame["text"]) for frame in frames if frame["type"] == "reply.delta") == 200_000
    assert len(frames[-1]["message"]["text"]) == 200_000


async def test_characters_of_several_bytes_arrive_and_are_kept_whole(open_tab, model):
    family = "\N{MAN}\u200d\N{WOMAN}\u200d\N{GIRL}"
    model.script = (
        "\N{GRINNING FACE}",
        family,
        "\N{REGIONAL INDICATOR SYMBOL LETTER D}\N{REGIONAL INDICATOR SYMBOL LETTER E}",
    )
    reply = await (await open_tab()).ask()
    assert reply["text"] == "".join(model.script)
    assert (await Message.objects.aget(pk=reply["id"])).text == reply["text"]


async def test_an_empty_retry_is_refused_while_one_is_being_written(open_tab, model):
    model.script = (asyncio.Event(),)
    tab = await open_tab()
    await tab.say()
    reply = (await tab.get("reply.started"))["message"]["id"]
    code = await tab.refusal(type="reply.retry", reply=reply, client_id=str(uuid4()))
    assert code == "reply_running"
    await tab.say("on top", parent=reply)
    assert (await tab.get("error"))["code"] == "reply_running"


async def test_the_same_retry_twice_is_one_reply(open_tab, model):
    tab = await open_tab()
    reply = await tab.ask()
    retry = {"type": "reply.retry", "reply": reply["id"], "client_id": str(uuid4())}
    for _ in range(2):
        await tab.send_json_to(retry)
    started = [(await tab.get("reply.started"))["message"]["id"] for _ in range(2)]
    assert started[0] == started[1]
    assert await Message.objects.filter(role="assistant").acount() == 2
