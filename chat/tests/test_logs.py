"""Each reply leaves one line of figures in the log, and no line of it holds what people or models say."""

import json
import logging
from uuid import uuid4

import pytest

from chat import services
from chat.replies import Ended
from chat.tests.fakes import USAGE
from chatsite.logs import JsonFormatter

pytestmark = pytest.mark.django_db(transaction=True)
CANARY = "CANARY-7f3a"


@pytest.fixture
async def ask(conversation, alice, model, remembered, caplog):
    """Has a message of Alice answered; returns the number of the reply."""
    caplog.set_level(logging.DEBUG)

    async def asked(text=f"my {CANARY}", **options):
        sent = await services.send_message(
            conversation.pk, alice.pk, client_id=uuid4(), parent=None, text=text, **options
        )
        async for event in services.follow_reply(conversation.pk, sent.reply["id"]):
            last = event
        assert isinstance(last, Ended)
        return sent.reply["id"]

    yield asked
    await services.close()


def generations(caplog):
    return [dict(record.msg) for record in caplog.records if record.name == "chat.generation"]


async def test_a_reply_leaves_one_line_with_its_figures(ask, alice, caplog):
    reply = await ask()
    about = {"event": "generation", "reply": reply, "source": "page", "owner": alice.pk, "model": "fake"}
    assert generations(caplog) == [about | {"status": "complete"} | USAGE]


async def test_it_says_where_the_reply_was_asked_for(ask, caplog):
    await ask(source="api")
    assert generations(caplog)[0]["source"] == "api"


async def test_a_reply_that_fails_leaves_one_as_well(ask, model, caplog):
    model.script = (f"{CANARY} ", RuntimeError("broken"))
    await ask()
    [line] = generations(caplog)
    assert (line["status"], line["finish_reason"]) == ("failed", "error")


@pytest.mark.parametrize("script", [(f"{CANARY} is said",), (f"{CANARY} ", RuntimeError("broken"))])
async def test_no_line_holds_a_word_of_it(ask, model, conversation, script, caplog):
    conversation.title = f"title {CANARY}"
    await conversation.asave()
    model.script = script
    await ask()
    lines = "\n".join(JsonFormatter().format(record) for record in caplog.records)
    assert "generation" in lines
    assert CANARY not in lines + caplog.text


async def test_the_line_is_json_among_lines_of_text_too(ask, caplog):
    reply = await ask()
    [record] = [record for record in caplog.records if record.name == "chat.generation"]
    assert json.loads(record.getMessage())["reply"] == reply
