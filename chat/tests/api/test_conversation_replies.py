"""A program posts a message and gets the reply that the page would get, whole or as it grows."""

import asyncio
from uuid import uuid4

import pytest

from chat import runtime
from chat.inference.batch import StepFailed
from chat.inference.testing import endless
from chat.replies import running
from chat.services import close
from chat.tests.api.talking import error, events_of, make, say
from chat.typed import clean


@pytest.fixture(autouse=True)
async def nothing_is_left_running():
    yield
    await close()


async def started(program, where, **options):
    """A message whose reply is being written; returns the task that posts it, and the reply's number."""
    posting = asyncio.ensure_future(program.post(f"{where}/messages", {"text": "Hello"} | options))
    while not (found := [reply for reply in running if reply.seq]):
        await asyncio.sleep(0.001)
    return posting, found[0].pk


async def test_a_reply_comes_with_its_message_and_its_figures(serve, program):
    serve()
    answered = await say(program, await make(program))
    message, reply = answered["message"], answered["reply"]
    assert (message["role"], message["text"], message["parent"]) == ("user", "Hello", None)
    assert (reply["role"], reply["text"], reply["parent"]) == ("assistant", "You said: Hello", message["id"])
    assert (reply["status"], reply["model"]) == ("complete", "Scripted")
    assert (reply["usage"]["completion_tokens"], reply["usage"]["finish_reason"]) == (5, "stop")
    assert not answered["branched"]
    assert "html" not in reply


async def test_the_model_is_shown_what_was_said_before(serve, program):
    runner = serve()
    where = await make(program)
    await say(program, where, "My cat is called Mia.")
    await say(program, where, "What is my cat called?")
    assert "My cat is called Mia." in runner.prompts[-1]
    assert (await program.get(where)).body["title"] == "My cat is called Mia."


async def test_a_stream_tells_what_the_whole_answer_tells(serve, program):
    serve()
    where = await make(program)
    whole = await say(program, where)
    events = await events_of(await program.post(f"{where}/messages", {"text": "Hello", "stream": True, "parent": None}))
    kinds = [event["type"] for event in events]
    assert (kinds[:2], kinds[-1]) == (["message.created", "reply.started"], "reply.done")
    assert set(kinds[2:-1]) <= {"reply.delta", "reply.queued"}
    assert "".join(event.get("text", "") for event in events) == whole["reply"]["text"]
    assert events[-1]["message"]["text"] == whole["reply"]["text"]
    for told, read in zip((events[0], events[-1]), (await program.get(where)).body["messages"], strict=True):
        assert told["message"].items() <= read.items()
    assert events[0]["branched"]


async def test_the_same_client_id_is_answered_once(serve, program):
    runner = serve()
    where, client_id = await make(program), str(uuid4())
    one, other = await asyncio.gather(*(say(program, where, client_id=client_id) for _ in range(2)))
    again = await say(program, where, client_id=client_id)
    assert one["reply"]["id"] == other["reply"]["id"] == again["reply"]["id"]
    assert again["reply"]["text"] == "You said: Hello"
    assert len(runner.prompts) == 1


async def test_a_message_follows_what_is_shown_unless_it_names_its_parent(serve, program):
    serve()
    where = await make(program)
    first = await say(program, where, "one")
    assert (await say(program, where, "two"))["message"]["parent"] == first["reply"]["id"]
    branch = await say(program, where, "three", parent=first["reply"]["id"])
    assert branch["branched"]
    assert (await say(program, where, "four"))["message"]["parent"] == branch["reply"]["id"]


async def test_another_reply_stands_beside_the_first(serve, program):
    serve()
    where = await make(program)
    first = await say(program, where)
    answer = await program.post(f"{where}/replies/{first['reply']['id']}/retry", {})
    assert answer.body["message"]["id"] == first["message"]["id"]
    assert answer.body["reply"]["id"] > first["reply"]["id"]
    assert (await program.get(where)).body["head"] == answer.body["reply"]["id"]
    assert error(await program.post(f"{where}/replies/{first['message']['id']}/retry", {})) == (404, "unknown_reply")


async def test_a_reply_is_stopped_and_keeps_its_text(serve, program):
    serve(endless, step_seconds=0.01)
    where = await make(program)
    posting, reply = await started(program, where)
    stopped = (await program.post(f"{where}/replies/{reply}/stop", {})).body
    assert (stopped["id"], stopped["status"]) == (reply, "stopped")
    assert stopped["text"].startswith("word")
    assert (await posting).body["reply"] == stopped
    assert (await program.post(f"{where}/replies/{reply}/stop", {})).body["text"] == stopped["text"]
    assert error(await program.post(f"{where}/replies/{2**62}/stop", {})) == (404, "unknown_reply")


async def test_a_reply_can_be_followed_from_any_part(serve, program):
    serve(endless, step_seconds=0.01)
    where = await make(program)
    posting, reply = await started(program, where)
    following = await program.get(f"{where}/replies/{reply}/events")
    await program.post(f"{where}/replies/{reply}/stop", {})
    events = await events_of(following)
    text = "".join(event.get("text", "") for event in events)
    assert text == events[-1]["message"]["text"] == (await posting).body["reply"]["text"]
    after = events[0]["seq"]
    [done] = await events_of(await program.get(f"{where}/replies/{reply}/events?after={after}"))
    assert (done["type"], done["message"]["text"]) == ("reply.done", text)


async def test_a_quiet_stream_says_that_it_lives(serve, program, monkeypatch):
    monkeypatch.setattr("chat.api.conversation_replies.QUIET", 0.01)
    serve(step_seconds=0.1)
    answer = await program.post(f"{await make(program)}/messages", {"text": "Hello", "stream": True})
    assert b": waiting\n\n" in [part async for part in answer.streaming_content]


async def test_a_reply_that_failed_says_why(serve, program):
    serve(lambda prompt: ["one ", StepFailed("The model is broken.")])
    reply = (await say(program, await make(program)))["reply"]
    assert (reply["status"], reply["text"], reply["error"]) == ("failed", "one ", "The model is broken.")


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"text": " \u200b "}, (400, "empty_message")),
        ({"text": "x" * 40_000}, (400, "message_too_long")),
        ({"text": "word " * 3000}, (400, "message_too_long")),
        ({"text": "Hello", "parent": 2**62}, (404, "unknown_parent")),
        ({}, (400, None)),
        ({"text": 7}, (400, None)),
        ({"text": "Hello", "parent": -1}, (400, None)),
        ({"text": "Hello", "parent": 2**63}, (400, None)),
        ({"text": "Hello", "parent": "1"}, (400, None)),
        ({"text": "Hello", "client_id": "x"}, (400, None)),
        ({"text": "Hello", "stream": "yes"}, (400, None)),
        ({"text": "Hello", "stop": True}, (400, None)),
    ],
)
async def test_what_cannot_be_sent_is_refused_and_not_stored(serve, program, body, expected):
    serve()
    where = await make(program)
    for stream in (False, True):
        assert error(await program.post(f"{where}/messages", {"stream": stream} | body)) == expected
    assert (await program.get(f"{where}?messages=all")).body["messages"] == []
    assert (await say(program, where))["reply"]["text"] == "You said: Hello"


async def test_while_a_reply_is_written_nothing_follows_it(serve, program):
    serve(endless, step_seconds=0.01)
    where = await make(program)
    posting, reply = await started(program, where)
    assert error(await program.post(f"{where}/messages", {"text": "More"})) == (409, "reply_running")
    assert error(await program.post(f"{where}/replies/{reply}/retry", {})) == (409, "reply_running")
    await program.post(f"{where}/replies/{reply}/stop", {})
    await posting


async def test_a_full_queue_and_a_missing_model_say_when_to_come_back(serve, program, settings):
    serve()
    where = await make(program)
    for setting, expected in (
        ("LLM_QUEUE_LIMIT_PERSON", (429, "rate_limit_exceeded")),
        ("LLM_QUEUE_LIMIT", (503, "overloaded")),
    ):
        kept = getattr(settings, setting)
        setattr(settings, setting, 0)
        answer = await program.post(f"{where}/messages", {"text": "Hello"})
        setattr(settings, setting, kept)
        assert error(answer) == expected
        assert int(answer["Retry-After"]) > 0
    runtime.use(None, "/secret/path is missing")
    answer = await program.post(f"{where}/messages", {"text": "Hello"})
    assert error(answer) == (503, "model_not_loaded")
    assert b"secret" not in answer.content


async def test_deleting_a_conversation_ends_the_reply_in_it(serve, program, monkeypatch):
    monkeypatch.setattr("chat.services.writing.SAVE_EVERY", 0.01)
    serve(endless, step_seconds=0.01)
    where = await make(program)
    posting, _ = await started(program, where)
    assert (await program.delete(where)).status_code == 204
    assert (await posting).body["reply"]["status"] == "stopped"
    assert list(running) == []


async def test_a_page_that_shows_the_conversation_sees_what_a_program_posts(serve, program, open_tab, conversation):
    serve()
    tab = await open_tab()
    await say(program, f"/v1/conversations/{conversation.pk}", "From a program")
    assert (await tab.get("message.created"))["message"]["text"] == "From a program"
    assert (await tab.get("reply.done"))["message"]["status"] == "complete"


@pytest.mark.parametrize("raw", ["a\0b", "a\r\nb", "a\x1b[31mb", "  indented\n\ttab"])
async def test_a_text_is_cleaned_as_on_the_page(serve, program, raw):
    serve()
    message = (await say(program, await make(program), raw))["message"]
    assert message["text"] == clean(raw)


async def test_a_conversation_tells_what_was_sent_for_each_reply(serve, program):
    serve()
    where = await make(program)
    answer = await say(program, where, "Hello")
    question, reply = (await program.get(where)).body["messages"]
    assert question["sent"] == {}
    sent = reply["sent"]
    assert sent["prompt_tokens"] == answer["reply"]["usage"]["prompt_tokens"]
    assert sum(part["num_tokens"] for part in sent["parts"]) == sent["prompt_tokens"]
    assert sent["parts"][-1]["kind"] == "message"
    assert sent["parts"][-1]["messages"] == [question["id"]]
    assert sent["sampling"]["temperature"] == 0.7
    assert "Hello" not in str(sent)
