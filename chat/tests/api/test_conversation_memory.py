"""A program does with what is remembered what the memory panel does, and is refused the same."""

import asyncio
import re

import pytest

from chat import runtime
from chat.inference.testing import endless
from chat.models import Message, Summary
from chat.replies import running
from chat.services import close
from chat.tests.api.talking import error, make, say

RUNNING = "Tell me a story."


@pytest.fixture(autouse=True)
async def nothing_is_left_running():
    yield
    await close()


@pytest.fixture
def answering(serve):
    """The site with a model of 640 tokens, which never ends a story."""
    return serve(context=640)


@pytest.fixture
async def talk(answering, program):
    """The address of a conversation of three turns."""
    where = await make(program)
    for text in ("My dog is called Rex. " * 4, "He is 5 years old. " * 4, "What is he called?"):
        await say(program, where, text)
    return where


@pytest.fixture
async def summarised(talk, program):
    """The same after it was compacted."""
    await program.post(f"{talk}/memory/compact", {})
    await at_rest(program, talk)
    return talk


async def memory(program, where, query=""):
    answer = await program.get(f"{where}/memory{query}")
    assert answer.status_code == 200, answer.content
    return answer.body


async def at_rest(program, where):
    """What is remembered once no summary is being written."""
    async with asyncio.timeout(10):
        while (seen := await memory(program, where))["is_compacting"]:
            await asyncio.sleep(0.01)
    return seen


async def ids(program, where):
    return [message["id"] for message in (await program.get(where)).body["messages"]]


async def test_before_anything_is_summarised_all_is_verbatim_and_the_gauge_adds_up(talk, program):
    seen = await memory(program, talk)
    assert (seen["summary"], seen["covered"], seen["versions"], seen["pinned"]) == (None, [], [], [])
    assert (seen["num_verbatim"], seen["can_compact"], seen["is_compacting"]) == (6, True, False)
    gauge = seen["gauge"]
    assert gauge["num_tokens"] == sum(part["num_tokens"] for part in gauge["parts"]) <= gauge["prompt"]
    assert gauge["prompt"] + gauge["reserve"] == gauge["context"] == 640


async def test_an_empty_conversation_has_nothing_and_no_gauge(answering, program):
    seen = await memory(program, await make(program))
    assert (seen["gauge"], seen["num_verbatim"], seen["can_compact"]) == (None, 0, False)


async def test_compacting_is_begun_at_once_and_then_it_stands_for_all_but_the_last_turn(talk, program):
    begun = await program.post(f"{talk}/memory/compact", {})
    assert begun.status_code == 200
    seen = await at_rest(program, talk)
    path = await ids(program, talk)
    assert seen["covered"] == path[:4]
    assert seen["summary"] == seen["versions"][0]
    assert seen["summary"]["covers_until"] == path[3]
    assert "Rex" in seen["summary"]["text"]
    assert (seen["num_verbatim"], seen["can_compact"]) == (2, False)
    again = await program.post(f"{talk}/memory/compact", {})
    assert (again.status_code, again.body["is_compacting"]) == (200, False)


async def test_a_correction_is_a_new_version_which_the_next_reply_is_written_with(summarised, program, answering):
    old = (await memory(program, summarised))["summary"]
    answer = await program.post(f"{summarised}/summaries", {"text": "The dog is called Max.", "replaces": old["id"]})
    new = answer.body["summary"]
    assert (new["text"], new["author"], new["grown_from"]) == ("The dog is called Max.", "person", old["id"])
    assert new["covers_until"] == old["covers_until"]
    await say(program, summarised, "And now?")
    assert "The dog is called Max." in answering.prompts[-1]


async def test_an_earlier_version_and_then_the_later_one_can_be_restored(summarised, program):
    old = (await memory(program, summarised))["summary"]["id"]
    body = {"text": "The dog is called Max.", "replaces": old}
    new = (await program.post(f"{summarised}/summaries", body)).body["summary"]["id"]
    for wanted in (old, new):
        answer = await program.post(f"{summarised}/summaries/{wanted}/restore", {})
        assert (answer.status_code, answer.body["summary"]["id"]) == (200, wanted)
    newest = await memory(program, summarised, "?limit=1")
    assert ([version["id"] for version in newest["versions"]], newest["num_versions"]) == ([new], 2)


async def test_what_is_not_in_use_any_more_cannot_be_corrected(summarised, program):
    old = (await memory(program, summarised))["summary"]["id"]
    body = {"text": "The dog is called Max.", "replaces": old}
    assert (await program.post(f"{summarised}/summaries", body)).status_code == 200
    answer = await program.post(f"{summarised}/summaries", body)
    assert error(answer) == (409, "stale")
    assert answer.body["error"]["param"] == "replaces"
    assert await Summary.objects.acount() == 2


@pytest.mark.parametrize(
    ("text", "code", "reason"),
    [
        (" \u200b", "empty_summary", "cannot be empty"),
        ("word " * 900, "summary_too_long", r"has [\d,]+ tokens; a summary may have [\d,]+"),
    ],
)
async def test_a_correction_that_makes_no_summary_is_refused(summarised, program, text, code, reason):
    old = (await memory(program, summarised))["summary"]["id"]
    answer = await program.post(f"{summarised}/summaries", {"text": text, "replaces": old})
    assert error(answer) == (400, code)
    assert answer.body["error"]["param"] == "text"
    assert re.search(reason, answer.body["error"]["message"])


async def test_a_pin_holds_until_it_is_taken_off(talk, program):
    first = (await ids(program, talk))[0]
    for pinned in (True, True, False, False):
        answer = await program.patch(f"{talk}/messages/{first}", {"pinned": pinned})
        assert (answer.status_code, answer.body["id"], answer.body["pinned"]) == (200, first, pinned)
        assert (await memory(program, talk))["pinned"] == [first] * pinned
    await program.patch(f"{talk}/messages/{first}", {"pinned": True})
    await program.post(f"{talk}/memory/compact", {})
    seen = await at_rest(program, talk)
    assert seen["covered"] == (await ids(program, talk))[1:4]
    assert "pinned" in [part["kind"] for part in seen["gauge"]["parts"]]


async def test_a_pin_that_does_not_fit_is_refused_with_both_numbers(talk, program):
    long = (await say(program, talk, "word " * 100))["message"]["id"]
    await program.patch(f"{talk}/messages/{(await ids(program, talk))[0]}", {"pinned": True})
    answer = await program.patch(f"{talk}/messages/{long}", {"pinned": True})
    assert error(answer) == (400, "pins_too_long")
    assert re.search(r"would have [\d,]+ tokens; [\d,]+ are kept", answer.body["error"]["message"])
    assert await Message.objects.filter(pinned=True).acount() == 1


async def test_what_is_forgotten_is_nowhere_and_forgetting_again_does_nothing(summarised, program):
    path = await ids(program, summarised)
    answer = await program.delete(f"{summarised}/messages/{path[0]}")
    assert (answer.status_code, answer.body) == (200, {"forgotten": path[:2]})
    exported = await program.get(f"{summarised}/export?format=json")
    assert "Rex" not in exported.content.decode()
    await at_rest(program, summarised)
    left = (await program.get(summarised)).body["messages"]
    assert [message["id"] for message in left] == path  # their places are left
    assert [message["status"] for message in left[:3]] == ["forgotten", "forgotten", "complete"]
    assert (await program.delete(f"{summarised}/messages/{path[0]}")).body == {"forgotten": []}


async def test_the_answers_may_stay(talk, program):
    path = await ids(program, talk)
    answer = await program.delete(f"{talk}/messages/{path[2]}?with_answers=false")
    assert answer.body == {"forgotten": [path[2]]}
    assert (await program.get(talk)).body["messages"][3]["text"].startswith("You said")


async def test_while_a_reply_that_knows_it_is_written_nothing_is_forgotten_or_pinned(serve, program):
    serve(lambda prompt: endless(prompt) if RUNNING in prompt else ["Yes."])
    where = await make(program)
    known = (await say(program, where))["message"]["id"]
    posting = asyncio.ensure_future(program.post(f"{where}/messages", {"text": RUNNING}))
    async with asyncio.timeout(10):
        while not (found := [reply for reply in running if reply.seq]):
            await asyncio.sleep(0.01)
    assert error(await program.delete(f"{where}/messages/{known}")) == (409, "reply_running")
    assert error(await program.patch(f"{where}/messages/{found[0].pk}", {"pinned": True})) == (409, "cannot_pin")
    await program.post(f"{where}/replies/{found[0].pk}/stop", {})
    await posting
    assert (await program.delete(f"{where}/messages/{known}")).status_code == 200


async def test_what_is_not_in_this_conversation_is_not_found(summarised, program):
    other = await make(program)
    await say(program, other, "Elsewhere")
    foreign = (await ids(program, other))[0]
    summary = (await memory(program, summarised))["summary"]["id"]
    for message in (foreign, 2**62):
        assert error(await program.delete(f"{summarised}/messages/{message}")) == (404, "unknown_message")
        for pinned in (True, False):
            answer = await program.patch(f"{summarised}/messages/{message}", {"pinned": pinned})
            assert error(answer) == (404, "unknown_message")
    for number in (summary, 2**62):
        assert error(await program.post(f"{other}/summaries/{number}/restore", {})) == (404, "unknown_summary")
        answer = await program.post(f"{other}/summaries", {"text": "x", "replaces": number})
        assert error(answer) == (404, "unknown_summary")


@pytest.mark.parametrize("body", [{}, {"pinned": 1}, {"pinned": None}, {"pinned": True, "text": "x"}, []])
async def test_changes_that_mean_nothing_are_refused(talk, program, body):
    first = (await ids(program, talk))[0]
    assert (await program.patch(f"{talk}/messages/{first}", body)).status_code == 400


async def test_without_a_model_it_is_read_restored_unpinned_and_forgotten_and_the_rest_says_try_again(
    summarised, program
):
    path = await ids(program, summarised)
    await program.patch(f"{summarised}/messages/{path[0]}", {"pinned": True})
    runtime.use(None, "/secret/model.gguf is missing")
    seen = await memory(program, summarised)
    assert (seen["gauge"], seen["can_compact"], seen["pinned"]) == (None, False, [path[0]])
    summary = seen["summary"]["id"]
    for refused in (
        await program.post(f"{summarised}/memory/compact", {}),
        await program.post(f"{summarised}/summaries", {"text": "x", "replaces": summary}),
        await program.patch(f"{summarised}/messages/{path[1]}", {"pinned": True}),
    ):
        assert error(refused) == (503, "model_not_loaded")
        assert refused["Retry-After"]
        assert b"secret" not in refused.content
    assert (await program.post(f"{summarised}/summaries/{summary}/restore", {})).status_code == 200
    assert (await program.patch(f"{summarised}/messages/{path[0]}", {"pinned": False})).status_code == 200
    assert (await program.delete(f"{summarised}/messages/{path[0]}")).status_code == 200
