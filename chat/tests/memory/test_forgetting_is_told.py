"""Open pages learn what was forgotten, and replies in what is deleted end."""

import asyncio

import pytest

from chat import runtime, services
from chat.inference.parking import Parked
from chat.inference.shelf_file import name_of
from chat.models import Conversation
from chat.replies import running
from chat.services import remembering
from chat.tests.memory.fakes import in_thread

pytestmark = pytest.mark.django_db(transaction=True)


async def test_open_pages_are_told(open_tab, conversation):
    tab = await open_tab()
    reply = await tab.ask("My dog is called Rex.")
    await in_thread(remembering.forget)(
        conversation.pk, conversation.owner_id, message=reply["parent"], with_answers=True
    )
    assert await tab.get("message.forgotten") == {
        "type": "message.forgotten", "messages": [reply["parent"], reply["id"]],
    }  # fmt: skip
    assert (await tab.get("title.changed"))["title"] == "New chat"


async def test_deleting_a_conversation_ends_its_replies_and_drops_its_caches(open_tab, conversation, model):
    model.script = ("Once ", asyncio.Event())
    tab = await open_tab()
    await tab.say("Tell me a story.")
    await tab.get("reply.delta")
    await services.delete_now(conversation.pk, conversation.owner_id)
    assert (await tab.get("reply.done"))["message"]["status"] == "stopped"
    assert model.ended == 1
    assert str(conversation.pk) in model.forgotten
    assert not await Conversation.objects.filter(pk=conversation.pk).aexists()


async def test_deleting_a_person_ends_replies_and_drops_caches(open_tab, conversation, model, alice, caplog):
    model.script = ("Once ", asyncio.Event())
    tab = await open_tab()
    await tab.say("Tell me a story.")
    await tab.get("reply.delta")

    def delete():
        with remembering.deleting_person(alice.pk):
            alice.delete()

    await in_thread(delete)()
    # The socket of somebody who is gone is closed, maybe before the page hears of the reply's end.
    async with asyncio.timeout(10):
        while any(reply.conversation == conversation.pk for reply in running):
            await asyncio.sleep(0.01)
    assert model.ended == 1
    assert '"status": "stopped"' in caplog.text
    assert str(conversation.pk) in model.forgotten
    assert not await Conversation.objects.aexists()


async def test_without_a_model_parked_files_go_too(conversation, monkeypatch, settings, tmp_path):
    settings.LLM_PARK_DIR = tmp_path
    names = [name_of(Parked(str(key), [1, 2, 3], memoryview(b""))) for key in (conversation.pk, "other")]
    for name in names:
        (tmp_path / f"{name}.parked").write_bytes(b"state")

    def unavailable():
        raise runtime.ModelUnavailable("no model")

    monkeypatch.setattr(runtime, "chat_model", unavailable)
    await services.delete_now(conversation.pk, conversation.owner_id)
    assert [path.stem for path in tmp_path.iterdir()] == names[1:]
