"""Beside each reply stands what was really sent for it: parts, tokens, sampling, model; nothing that was forgotten."""

import json

import pytest
from asgiref.sync import async_to_sync

from chat import runtime
from chat.inference import SamplingParams
from chat.memory import Keeper, prompt_for, sent_as_stored
from chat.models import Message, Summary
from chat.services import remembering
from chat.tests.memory.fakes import ask, fake, long_talk

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def model(monkeypatch):
    class Fake(type(fake())):
        sampling: SamplingParams = SamplingParams()
        thinking: bool | None = None

    model = Fake(script=[RuntimeError("no")], asked=[], prewarmed=[], forgotten=[])
    monkeypatch.setattr(runtime, "chat_model", lambda: model)
    return model


@pytest.fixture
def leaf(alice, model):
    leaf = long_talk(alice)
    leaf.conversation.head = leaf
    leaf.conversation.save()
    remembering.pin(leaf.conversation_id, alice.pk, message=leaf.conversation.path()[2], pinned=True)
    async_to_sync(Keeper().after_reply)(leaf.conversation_id, leaf.pk, model)
    return leaf


def answered(leaf, model):
    reply = ask(leaf, "What is my dog called?")
    prompt = async_to_sync(prompt_for)(reply, model)
    reply.finish("complete", text="Rex.", sent=sent_as_stored(prompt, model, max_tokens=99))
    return Message.objects.get(pk=reply.pk), prompt


def test_what_is_read_is_what_was_sent(leaf, model):
    reply, prompt = answered(leaf, model)
    parts = remembering.sent(reply)
    assert [(part.kind, part.num_tokens) for part in parts] == [(part.kind, part.num_tokens) for part in prompt.parts]
    for told, part in zip(parts, prompt.parts, strict=True):
        assert [message.pk for message in told.messages] == list(part.messages)
    shown = {part.kind: part for part in parts}
    assert shown["system"].text == "Be kind."
    assert shown["summary"].summary == Summary.objects.get()
    assert [message.text for message in shown["message"].messages] == ["What is my dog called?"]
    assert reply.sent["prompt_tokens"] == prompt.num_tokens
    assert (reply.sent["sampling"]["temperature"], reply.sent["sampling"]["max_tokens"]) == (0.7, 99)
    assert (reply.sent["model"], reply.sent["context"]) == ("Fake", 640)


def test_no_text_is_kept_twice(leaf, model):
    reply, _ = answered(leaf, model)
    kept = json.dumps(reply.sent)
    assert "Rex" not in kept
    assert "dog" not in kept
    assert len(kept) < 1000


def test_what_was_forgotten_since_says_so(leaf, model):
    reply, _ = answered(leaf, model)
    path = leaf.conversation.path()
    for message in (path[2], path[-2]):
        remembering.forget(leaf.conversation_id, leaf.conversation.owner_id, message=message, with_answers=False)
    shown = {part.kind: part for part in remembering.sent(Message.objects.get(pk=reply.pk))}
    assert "deleted since" in shown["summary"].note
    assert shown["summary"].text == ""
    [pinned] = shown["pinned"].messages
    assert (pinned.text, pinned.is_forgotten) == ("", True)
    assert [message.is_forgotten for message in shown["turns"].messages][-2:] == [True, False]


def test_an_older_reply_has_nothing_to_show(leaf):
    assert remembering.sent(leaf) == []
