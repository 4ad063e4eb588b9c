"""`manage.py memory_check` measures in a process and a database of its own, and its status says whether all was met."""

import json

import pytest
from django.core.management import CommandError, call_command

from chat.management.commands import memory_check
from chat.memory.checking import launch, worker
from chat.memory.checking.launch import Result, RunFailed
from chat.memory.checking.run import Options
from chat.memory.checking.values import Report, Value
from chat.models import Conversation, Message


@pytest.mark.django_db(transaction=True)
def test_a_small_run_from_end_to_end_leaves_the_site_alone(settings):
    settings.EMBED_MODEL_PATH = "off"
    ticks = []
    options = Options(turns=20, context=1024, more=0, lengths=(10,), fault_turns=2)
    result = launch.run(options, lambda *tick: ticks.append(tick))
    values = {value.name: value for value in result.report.values}
    assert values["canaries of other people or conversations in a prompt"].met
    assert values["prompts over the budget"].met
    assert values["turns that nothing covers, under any fault of the summariser"].met
    assert values["planted fact in the prompt after 20 turns, other words, with embeddings"].met is False
    assert values["traces of a forgotten fact in prompt, tables, index, files"].ours == 0
    assert ticks[-1][0] <= ticks[-1][1]
    assert result.cases["questions"]
    assert result.cases["turns"][0][-1]["role"] == "user"
    assert not Conversation.objects.exists()
    assert not Message.objects.exists()


def test_it_refuses_a_directory_in_which_something_is(tmp_path, settings, monkeypatch):
    (tmp_path / "chat.sqlite3").touch()
    monkeypatch.setitem(settings.DATABASES["default"], "NAME", tmp_path / "chat.sqlite3")
    with pytest.raises(SystemExit, match="an empty directory of its own"):
        worker.main({"folder": str(tmp_path)})


def test_a_run_that_ends_badly_says_so(monkeypatch):
    monkeypatch.setattr(launch, "_environment", lambda folder: {"DATA_DIR": str(folder), "LLM_SLOTS": "many"})
    with pytest.raises(RunFailed, match="LLM_SLOTS"):
        launch.run(Options())


@pytest.fixture
def measured(monkeypatch):
    """What the command gets to report."""
    values = []

    def run(options, progress, *, embeddings):
        progress(1, 2, "conversation 1")
        return Result(Report("a rule", {"turns": options.turns}, values), {})

    monkeypatch.setattr(memory_check.launch, "run", run)
    return values


def test_the_last_line_is_a_summary(measured, capsys):
    measured.append(Value("same words", "%", 99.0, 95, more_is_better=True))
    call_command("memory_check")
    out = capsys.readouterr().out
    assert out.splitlines()[-1] == "1 of 1 values met"
    assert "| same words" in out


def test_a_value_that_is_not_met_fails_and_names_its_misses(measured, capsys):
    measured.append(Value("same words", "%", 90.0, 95, more_is_better=True, misses=["talk 1, the dog"]))
    with pytest.raises(SystemExit, match="1"):
        call_command("memory_check", turns=60)
    out = capsys.readouterr().out
    assert "talk 1, the dog" in out
    assert out.splitlines()[-1] == "0 of 1 values met; not: same words"


def test_json_is_all_that_goes_to_standard_output(measured, capsys):
    measured.append(Value("same words", "%", 99.0, 95, more_is_better=True))
    call_command("memory_check", json=True, turns=60)
    figures = json.loads(capsys.readouterr().out)
    assert (figures["met"], figures["of"], figures["options"]["turns"]) == (1, 1, 60)


def test_numbers_that_mean_nothing_are_refused(measured):
    with pytest.raises(CommandError, match="--turns must be at least 10"):
        call_command("memory_check", turns=1)
    with pytest.raises(CommandError, match="--context must be at least 512"):
        call_command("memory_check", context=100)
