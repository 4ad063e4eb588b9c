"""The panel's page runs the memory check in the background, one at a time, and keeps the result."""

import json
import threading

import pytest
from django.urls import reverse

from chat.memory.checking import background as module
from chat.memory.checking.background import Background, State
from chat.memory.checking.launch import Result, RunFailed
from chat.memory.checking.stopping import Stopped
from chat.memory.checking.values import Report, Value


@pytest.fixture
def page(client, owner):
    client.force_login(owner)
    return reverse("admin:memory_check")


@pytest.fixture
def checker(monkeypatch, settings, tmp_path):
    """A background whose runs wait for `go` or to be stopped, and give `outcome`."""
    settings.DATA_DIR = tmp_path
    checker = Background()
    checker.begun, checker.go, checker.ended = threading.Event(), threading.Event(), threading.Event()
    checker.outcome = Result(Report("a rule", {}, [Value("same words", "%", 99.0, 95, more_is_better=True)]), {})

    def run(options, progress, *, nice, stopping):
        progress(1, 2, "conversation 1")
        with stopping.ended_by(lambda _: checker.go.set()):
            checker.begun.set()
            assert checker.go.wait(10)
        if isinstance(checker.outcome, Exception):
            raise checker.outcome
        return checker.outcome

    work = checker._run
    monkeypatch.setattr(checker, "_run", lambda *args: (work(*args), checker.ended.set()))
    monkeypatch.setattr(module.launch, "run", run)
    monkeypatch.setattr("chat.admin.memory_check.background", checker)
    yield checker
    checker.go.set()


def finish(checker):
    checker.go.set()
    assert checker.ended.wait(10)


def test_before_the_first_run_it_says_so(client, page, checker):
    assert "has not been checked yet" in client.get(page).content.decode()


def test_the_index_leads_there(client, page, checker):
    assert page in client.get(reverse("admin:index")).content.decode()


def test_a_run_shows_its_progress_and_then_the_result(client, page, checker):
    assert client.post(page, {"start": "1"}).status_code == 302
    assert checker.begun.wait(10)
    shown = client.get(page).content.decode()
    assert "35 %: conversation 1" in shown
    assert "data-running" in shown
    finish(checker)
    shown = client.get(page).content.decode()
    assert "1 of 1 values met" in shown
    assert "same words" in shown
    assert "The model is switched off" in shown
    assert "data-running" not in shown


def test_a_second_run_is_not_begun_while_one_goes_on(client, page, checker):
    client.post(page, {"start": "1"})
    assert "A check is running already." in client.post(page, {"start": "1"}, follow=True).content.decode()


def test_why_a_run_failed_is_told_and_the_old_result_stays(client, page, checker):
    client.post(page, {"start": "1"})
    finish(checker)
    checker.outcome = RunFailed("The run ended with 1: boom")
    checker.ended.clear()
    client.post(page, {"start": "1"})
    assert checker.ended.wait(10)
    shown = client.get(page).content.decode()
    assert "The last check failed: The run ended with 1: boom" in shown
    assert "1 of 1 values met" in shown


def test_a_run_can_be_stopped_and_shows_what_it_had_measured_beside_the_last_whole_one(client, page, checker):
    client.post(page, {"start": "1"})
    finish(checker)
    for event in (checker.begun, checker.go, checker.ended):
        event.clear()
    checker.outcome = Stopped(Report("a rule", {}, [Value("other words", "%", 80.0, 70, more_is_better=True)]))
    client.post(page, {"start": "1"})
    assert checker.begun.wait(10)
    assert "stop" in client.get(page).content.decode()
    assert client.post(page, {"stop": "1"}).status_code == 302
    assert checker.ended.wait(10)
    shown = client.get(page).content.decode()
    assert "The check was stopped at 35 %." in shown
    assert (
        shown.index("Until it was stopped: 1 of 1")
        < shown.index("other words")
        < shown.index("The last whole check: 1 of 1 values met")
        < shown.index("same words")
    )
    assert "data-running" not in shown
    assert "Check again" in shown


def test_a_run_that_is_stopped_early_has_measured_nothing(client, page, checker):
    checker.outcome = Stopped()
    client.post(page, {"start": "1"})
    assert checker.begun.wait(10)
    client.post(page, {"stop": "1"})
    assert checker.ended.wait(10)
    shown = client.get(page).content.decode()
    assert "It had measured nothing yet." in shown
    assert "has not been checked yet" not in shown


def test_while_it_ends_it_says_so(client, page, checker, monkeypatch):
    client.post(page, {"start": "1"})
    assert checker.begun.wait(10)
    monkeypatch.setattr(checker._stopping, "ask", lambda: None)
    client.post(page, {"stop": "1"})
    shown = client.get(page).content.decode()
    assert "Stopping…" in shown
    assert "data-running" in shown


def test_stopping_nothing_says_so(client, page, checker):
    assert "No check is running." in client.post(page, {"stop": "1"}, follow=True).content.decode()
    assert checker.state == State()


def test_a_post_without_the_button_begins_nothing(client, page, checker):
    client.post(page)
    assert checker.state == State()


def test_a_broken_file_is_no_result(checker, tmp_path):
    (tmp_path / "memory_check.json").write_text("{")
    assert checker.result() is None
    (tmp_path / "memory_check.json").write_text(json.dumps({"at": "2026-01-01"}))
    assert checker.result() == {"at": "2026-01-01"}
