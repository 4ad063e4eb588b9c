"""A history that somebody brings along is checked and shown as the prompt that the site would build."""

import json

import pytest
from django.core.management import CommandError, call_command

from chat.memory.checking import brought
from chat.memory.checking.history import UnusableHistory, parse, read
from chat.memory.checking.reading import RuleReader

TURNS = [
    {"role": "user", "text": "My dog is called Rex.", "date": "2026-01-05"},
    {"role": "assistant", "text": "Nice!"},
]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ([], "must be an object"),
        ({"turns": {}, "question": "?"}, "must be an object"),
        ({"turns": [], "question": " "}, '"question" must be'),
        ({"turns": ["hello"], "question": "?"}, "turns[0] must be"),
        ({"turns": [*TURNS, {"role": "system", "text": "x"}], "question": "?"}, "turns[2]"),
        ({"turns": [{"role": "user", "text": ""}], "question": "?"}, 'turns[0]: "text"'),
        ({"turns": [{"role": "user", "text": "x", "date": "yesterday"}], "question": "?"}, "not 'yesterday'"),
        ({"turns": [{"role": "user", "text": "x", "date": 7}], "question": "?"}, "not 7"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(content, reason):
    with pytest.raises(UnusableHistory, match=reason.replace("[", r"\[").replace("]", r"\]")):
        parse(content)


def test_files_that_are_none_are_refused(tmp_path):
    broken, binary = tmp_path / "broken.json", tmp_path / "binary.json"
    broken.write_text("{")
    binary.write_bytes(b"\xff\xfe")
    for path, reason in ((broken, "is no JSON"), (binary, "is not UTF-8"), (tmp_path / "none", "cannot be read")):
        with pytest.raises(UnusableHistory, match=reason):
            read(path)


def test_dates_may_be_days_times_or_missing():
    past = parse({"turns": [*TURNS, {"role": "user", "text": "x", "date": "2026-01-06T10:00"}], "question": "?"})
    assert [str(turn.at) for turn in past.turns] == [
        "2026-01-05 12:00:00+00:00",
        "None",
        "2026-01-06 10:00:00+00:00",
    ]


@pytest.mark.django_db(transaction=True)
async def test_a_long_history_is_folded_and_recalled_within_the_budget(settings):
    settings.LLM_MAX_REPLY_TOKENS = brought.RESERVE
    story = {"role": "user", "text": "Tell me of the lighthouse at the end of the world. " * 3}
    past = parse({"turns": [*TURNS, *[story, TURNS[1]] * 60], "question": "What is my dog called?"})
    shown = await brought.show(past, 400, RuleReader())
    kinds = [part["kind"] for part in shown["parts"]]
    assert shown["tokens"] == sum(part["tokens"] for part in shown["parts"]) <= shown["budget"] == 400
    assert kinds[0] == "system"
    assert kinds[-1] == "message"
    assert {"summary", "turns"} <= set(kinds)
    before = "\n".join(part["text"] for part in shown["parts"][:-1])
    assert "My dog is called Rex" in before
    assert shown["parts"][-1]["text"] == "What is my dog called?"


@pytest.mark.django_db(transaction=True)
async def test_odd_orders_and_no_turns_at_all_are_shown_too(settings):
    settings.LLM_MAX_REPLY_TOKENS = brought.RESERVE
    odd = [TURNS[1], TURNS[1], TURNS[0], TURNS[0]]
    shown = await brought.show(parse({"turns": odd, "question": "?"}), 300, RuleReader())
    assert shown["parts"][-2]["text"].count("My dog is called Rex.") == 2
    shown = await brought.show(parse({"turns": [], "question": "?"}), 300, RuleReader())
    assert [part["kind"] for part in shown["parts"]] == ["system", "message"]


def test_the_command_shows_it_from_a_process_of_its_own(tmp_path, capsys, settings):
    settings.EMBED_MODEL_PATH = "off"
    file = tmp_path / "history.json"
    file.write_text(json.dumps({"turns": TURNS, "question": "What is my dog called?"}))
    call_command("memory_check", conversation=file, budget=300)
    shown = json.loads(capsys.readouterr().out)
    assert [part["kind"] for part in shown["parts"]] == ["system", "turns", "message"]
    assert shown["parts"][1]["text"] == "user: My dog is called Rex.\nassistant: Nice!"


def test_the_command_says_what_is_wrong(tmp_path, settings):
    settings.EMBED_MODEL_PATH = "off"
    file = tmp_path / "history.json"
    file.write_text(json.dumps({"turns": TURNS, "question": "word " * 200}))
    with pytest.raises(CommandError, match="tokens, and"):
        call_command("memory_check", conversation=file, budget=100)
    with pytest.raises(CommandError, match="cannot be read"):
        call_command("memory_check", conversation=tmp_path / "none", budget=100)
    with pytest.raises(CommandError, match="--budget must be at least 64"):
        call_command("memory_check", conversation=file, budget=3)
