"""What goes out is what docs/protocol.md says: its types, its fields, and text that every client can read."""

import json
import re
from pathlib import Path
from uuid import UUID, uuid4

from chat import protocol

DOCS = (Path(__file__).parents[2] / "docs" / "protocol.md").read_text()
FILES = ("models/conversations.py", "consumers.py")
MESSAGE = {"id": 2, "status": "streaming", "text": "so far", "reasoning": "hm", "html": "<p>so far</p>", "parent": 1}
EVERY_FRAME = [
    protocol.hello(uuid4(), "Title", 3, [5, 7], [3], [4]),
    protocol.message_created(MESSAGE),
    protocol.reply_started(MESSAGE),
    protocol.branched(3, None),
    protocol.reply_queued(3, 1, 20),
    protocol.reply_delta(3, 1, "a", "b", "<p>", "</p>"),
    protocol.reply_done(MESSAGE),
    protocol.title_changed("Title"),
    protocol.head_changed(3),
    protocol.message_forgotten([3]),
    protocol.memory_changed([3], "tab"),
    protocol.error("bad_frame", "What to do."),
    protocol.pong(),
]


def test_the_documentation_names_every_frame_and_all_its_fields():
    rows = [line.split("`")[1] for line in DOCS.splitlines() if line.startswith('| `{"type": ')]
    documented = {row.split('"')[3]: re.findall(r'"(\w+)"(?!\?)', row.split('"', 4)[4]) for row in rows}
    for frame in EVERY_FRAME:
        assert documented[frame["type"]] == list(frame)[1:]


def test_a_started_reply_is_shown_empty_whatever_it_has_become():
    shown = protocol.reply_started(MESSAGE)["message"]
    assert (shown["status"], shown["text"], shown["reasoning"], shown["html"]) == ("queued", "", "", "")
    assert MESSAGE["text"] == "so far"


def test_an_error_names_what_it_is_about_only_if_it_is_known():
    assert protocol.error("c", "t") == {"type": "error", "code": "c", "text": "t"}
    about = protocol.error("c", "t", client_id=UUID(int=1), reply=4)
    assert (about["client_id"], about["reply"]) == (str(UUID(int=1)), 4)


def test_a_lone_half_of_a_pair_and_a_line_separator_survive_the_wire():
    wire = protocol.encode(protocol.title_changed("\ud83d \u2028 \N{GRINNING FACE}"))
    assert wire.isascii()
    assert json.loads(wire)["title"] == "\ud83d \u2028 \N{GRINNING FACE}"


def test_the_documentation_names_every_code_of_an_error():
    sources = [*Path(__file__).parents[1].glob("services/*.py"), *(Path(__file__).parents[1] / name for name in FILES)]
    found = set()
    for source in sources:
        found |= set(re.findall(r'(?:RefusedPost|_refuse)\(\s*"(\w+)"', source.read_text()))
    assert len(found) > 10
    assert {code for code in found if f"`{code}`" not in DOCS} == set()
