"""A program lists, makes, reads, renames and deletes its owner's conversations, and no others."""

from datetime import timedelta
from uuid import uuid4

import pytest
from django.utils import timezone

from chat.models import Conversation
from chat.services import close
from chat.tests.api.talking import CONVERSATIONS, NOWHERE, error, make, say

ROUTES = [
    ("get", "", None),
    ("patch", "", {"title": "Mine now"}),
    ("delete", "", None),
    ("get", "/export", None),
    ("get", "/export?format=json", None),
    ("post", "/messages", {"text": "hi"}),
    ("post", "/replies/1/stop", {}),
    ("post", "/replies/1/retry", {}),
    ("get", "/replies/1/events", None),
    ("get", "/memory", None),
    ("post", "/memory/compact", {}),
    ("post", "/summaries", {"text": "Mine", "replaces": 1}),
    ("post", "/summaries/1/restore", {}),
    ("patch", "/messages/1", {"pinned": True}),
    ("delete", "/messages/1", None),
]


@pytest.fixture(autouse=True)
async def nothing_is_left_running():
    yield
    await close()


async def request(program, method, path, body):
    ask = getattr(program, method)
    return await (ask(path) if body is None else ask(path, body))


async def test_what_was_made_is_listed_read_renamed_and_gone(program):
    where = await make(program, title="  Cats \n and dogs ")
    [listed] = (await program.get(CONVERSATIONS)).body["data"]
    read = (await program.get(where)).body
    assert listed["title"] == read["title"] == "Cats and dogs"
    assert (read["messages"], read["head"], read["earlier"]) == ([], None, None)
    renamed = await program.patch(where, {"title": "Birds"})
    assert renamed.body["title"] == (await program.get(where)).body["title"] == "Birds"
    deleted = await program.delete(where)
    assert (deleted.status_code, deleted.content) == (204, b"")
    assert (await program.get(where)).status_code == 404
    assert (await program.get(CONVERSATIONS)).body == {"object": "list", "data": [], "has_more": False, "next": None}


async def test_two_that_are_made_are_two(program):
    assert await make(program) != await make(program)


async def test_one_that_was_made_with_a_title_is_not_taken_for_a_new_chat_of_the_page(program, alice):
    where = await make(program, title="Nightly report")
    assert str((await in_thread(Conversation.begin, alice)).pk) not in where


async def test_pages_of_the_list_hold_each_once_the_last_used_first(program, alice, bob):
    await Conversation.objects.acreate(owner=bob)
    moment = timezone.now()
    for number in range(7):  # Two at each moment: their order must hold as well.
        await Conversation.objects.acreate(
            owner=alice, title=str(number), updated_at=moment + timedelta(seconds=number // 2)
        )
    expected = [str(pk) async for pk in Conversation.objects.filter(owner=alice).values_list("pk", flat=True)]
    seen, after = [], ""
    while after is not None:
        page = (await program.get(f"{CONVERSATIONS}?limit=2&after={after}")).body
        seen += [listed["id"] for listed in page["data"]]
        after = page["next"]
        assert page["has_more"] == (after is not None)
    assert seen == expected


@pytest.mark.parametrize("after", ["x", "%00", "AAAA", "MjAyNg", "4pyT", "a" * 201, "9999-99-99"])
async def test_what_is_no_cursor_is_refused(program, after):
    answer = await program.get(f"{CONVERSATIONS}?after={after}")
    assert answer.status_code == 400
    assert answer.body["error"]["param"] == "after"


async def test_messages_come_in_stretches_of_the_branch_or_of_everything(serve, program):
    serve()
    where = await make(program)
    first = await say(program, where, "one")
    await say(program, where, "two")
    await say(program, where, "other", parent=first["reply"]["id"])
    shown = (await program.get(f"{where}?limit=3")).body
    assert [message["text"] for message in shown["messages"]] == ["You said: one", "other", "You said: other"]
    before = (await program.get(f"{where}?limit=3&before={shown['earlier']}")).body
    assert [message["text"] for message in before["messages"]] == ["one"]
    assert before["earlier"] is None
    everything = (await program.get(f"{where}?messages=all")).body["messages"]
    assert [message["id"] for message in everything] == sorted(message["id"] for message in everything)
    assert len(everything) == 6
    assert [message["text"] for message in everything if message["parent"] == first["reply"]["id"]] == ["two", "other"]


async def test_another_branch_can_be_shown(serve, program):
    serve()
    where = await make(program)
    first = await say(program, where, "one")
    await say(program, where, "other", parent=None)
    answer = await program.patch(where, {"head": first["message"]["id"]})
    assert answer.body["head"] == first["reply"]["id"]
    assert error(await program.patch(where, {"head": 2**62})) == (404, "unknown_message")


@pytest.mark.parametrize(("method", "path", "body"), ROUTES)
async def test_what_is_another_persons_looks_like_what_does_not_exist(serve, program, bobs_program, method, path, body):
    serve()
    where = await make(program, title="Secret")
    foreign = await request(bobs_program, method, where + path, body)
    missing = await request(bobs_program, method, NOWHERE + path, body)
    assert error(foreign) == error(missing) == (404, "not_found")
    assert foreign.content == missing.content
    assert (await program.get(where)).body["title"] == "Secret"


@pytest.mark.parametrize(("method", "path", "body"), [("get", None, None), ("post", None, {}), *ROUTES])
async def test_without_a_key_nothing_is_told(program, as_alice, method, path, body):
    address = CONVERSATIONS if path is None else await make(program) + path
    options = {} if body is None else {"data": body, "content_type": "application/json"}
    assert (await getattr(as_alice, method)(address, **options)).status_code == 401


@pytest.mark.parametrize(
    "body",
    [{"title": ""}, {"title": " \u200b"}, {"title": "x" * 201}, {"title": 7}, {"head": -1}, {"head": True},
     {"head": 2**63}, {"name": "x"}, [], None, "x"],
)  # fmt: skip
async def test_changes_that_mean_nothing_are_refused(program, body):
    where = await make(program, title="Kept")
    answer = await program.patch(where, body)
    assert answer.status_code == 400
    assert answer.body["error"]["message"]
    assert (await program.get(where)).body["title"] == "Kept"


@pytest.mark.parametrize(
    "query", ["limit=0", "limit=x", "limit=201", "before=0", f"before={2**63}", "before=5", "messages=some"]
)
async def test_a_stretch_that_does_not_exist_is_refused(program, query):
    assert (await program.get(f"{await make(program)}?{query}")).status_code == 400


@pytest.mark.parametrize("path", ["/x", f"/{uuid4()}x", "/%00", "/1"])
async def test_an_address_that_is_none_has_an_error_that_programs_read(program, path):
    assert error(await program.get(CONVERSATIONS + path)) == (404, "not_found")


async def in_thread(work, *args):
    from chat.database import in_database

    return await in_database(work, *args)
