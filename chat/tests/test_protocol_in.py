"""What comes in is one of the frames or is refused with words; nothing that a client sends raises anything else."""

import json
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat import protocol

CLIENT = "6f1b0f0e-54a6-4d9c-8f5e-3a8f4a6a3f10"


def test_each_frame_is_read():
    sent = {"type": "message.send", "client_id": CLIENT, "parent": None, "text": "hi"}
    assert protocol.parse(json.dumps(sent)) == protocol.Send(UUID(CLIENT), None, "hi")
    assert protocol.parse('{"type": "reply.stop", "reply": 3}') == protocol.Stop(3)
    retry = {"type": "reply.retry", "reply": 3, "client_id": CLIENT}
    assert protocol.parse(json.dumps(retry)) == protocol.Retry(3, UUID(CLIENT))
    assert protocol.parse('{"type": "reply.follow", "reply": 3, "after": 0}') == protocol.Follow(3, 0)
    assert protocol.parse('{"type": "branch.show", "message": 4}') == protocol.Show(4)
    assert protocol.parse('{"type": "ping", "since": 1}') == protocol.Ping()


@pytest.mark.parametrize(
    "raw",
    [
        "",
        "hello",
        "null",
        "[]",
        "3",
        '{"type": "ping"',
        '{"type": "ping", "x": "\x00"}',
        "{}",
        '{"type": 1}',
        '{"type": []}',
        '{"type": "reply.done"}',
        '{"type": "\\u0000"}',
        '{"type": "reply.stop"}',
        '{"type": "reply.stop", "reply": true}',
        '{"type": "reply.stop", "reply": 1.0}',
        '{"type": "reply.stop", "reply": "1"}',
        '{"type": "reply.stop", "reply": -1}',
        '{"type": "reply.stop", "reply": NaN}',
        '{"type": "reply.stop", "reply": 9223372036854775808}',
        '{"type": "reply.stop", "reply": ' + "9" * 5000 + "}",
        '{"type": "reply.follow", "reply": 1, "after": null}',
        "[" * 100_000,
        json.dumps({"type": "message.send", "client_id": "me", "parent": None, "text": "hi"}),
        json.dumps({"type": "message.send", "client_id": 5, "parent": None, "text": "hi"}),
        json.dumps({"type": "message.send", "client_id": CLIENT, "text": "hi"}),
        json.dumps({"type": "message.send", "client_id": CLIENT, "parent": None, "text": ["hi"]}),
    ],
)
def test_anything_else_is_refused_with_words(raw):
    with pytest.raises(protocol.BadFrame, match=r"\w+ \w+"):
        protocol.parse(raw)


def test_the_refusal_of_a_message_names_its_client_id():
    with pytest.raises(protocol.BadFrame) as refused:
        protocol.parse(json.dumps({"type": "message.send", "client_id": CLIENT, "parent": "x", "text": "hi"}))
    assert refused.value.client_id == UUID(CLIENT)


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists, max_leaves=5))
def test_no_value_in_any_field_breaks_the_parser(value):
    for kind in ("message.send", "reply.stop", "reply.retry", "reply.follow", "branch.show", "ping", value):
        fields = dict.fromkeys(("client_id", "parent", "text", "reply", "after", "message"), value)
        try:
            protocol.parse(json.dumps({"type": kind} | fields))
        except protocol.BadFrame:
            continue
