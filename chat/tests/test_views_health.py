"""The health checks, for whatever watches over the server."""

from types import SimpleNamespace

import pytest

from chat import runtime


def test_healthz_answers_without_the_database(client):
    answer = client.get("/healthz")
    assert (answer.status_code, answer.content) == (200, b"ok")


@pytest.mark.parametrize(("ready", "code"), [(True, 200), (False, 503)])
def test_readyz_tells_whether_there_is_a_model_and_why_not(client, monkeypatch, ready, code):
    status = SimpleNamespace(ready=ready, reason="" if ready else "loading model", model="Scripted")
    monkeypatch.setattr(runtime, "status", lambda: status)
    answer = client.get("/readyz")
    assert answer.status_code == code
    assert answer.json() == vars(status)
