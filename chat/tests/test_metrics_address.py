"""/metrics exists for whoever has the token alone, and not at all without one."""

import pytest

from chat import runtime
from chat.metrics.figures import figures

TOKEN = "Grüße, 31 letters of a long secret"


@pytest.fixture(autouse=True)
def no_model():
    runtime.use(None)


@pytest.fixture
def token(settings):
    settings.METRICS_TOKEN = TOKEN


def ask(client, authorization=None):
    headers = {} if authorization is None else {"authorization": authorization}
    return client.get("/metrics", headers=headers)


def test_without_a_token_in_the_settings_it_is_not_there(client, settings):
    settings.METRICS_TOKEN = ""
    assert ask(client).status_code == 404
    assert ask(client, "Bearer ").status_code == 404


@pytest.mark.parametrize("authorization", [None, "", "Bearer", "Bearer ", "Bearer wrong", f"Basic {TOKEN}", TOKEN])
def test_without_the_right_token_nothing_is_told(client, token, authorization):
    answer = ask(client, authorization)
    assert answer.status_code == 401
    assert answer["WWW-Authenticate"] == "Bearer"
    assert b"chat_" not in answer.content


def test_the_token_in_the_query_string_opens_nothing(client, token):
    assert client.get("/metrics", {"token": TOKEN}).status_code == 401


def test_with_it_prometheus_reads_the_figures(client, token):
    answer = ask(client, f"bearer {TOKEN}")
    assert answer.status_code == 200
    assert answer["Content-Type"].startswith("text/plain; version=")
    assert "no-store" in answer["Cache-Control"]
    assert b"# TYPE chat_engine_step_tokens histogram" in answer.content
    assert b"\nllamacpp:n_decode_total " in answer.content


def test_a_session_is_no_token(client, token, owner):
    client.force_login(owner)
    assert ask(client).status_code == 401


def test_the_engine_is_observed_only_when_somebody_may_read(settings):
    settings.METRICS_TOKEN = ""
    assert runtime._observer() is None
    settings.METRICS_TOKEN = TOKEN
    assert runtime._observer() is figures
