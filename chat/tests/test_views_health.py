"""The health checks, for whatever watches over the server."""

from types import SimpleNamespace

import pytest
from django.db import OperationalError, connection

from chat import runtime

READY = SimpleNamespace(ready=True, reason="", model="Scripted")


def test_healthz_answers_without_the_database(client):
    answer = client.get("/healthz")
    assert (answer.status_code, answer.content) == (200, b"ok")


@pytest.mark.django_db
@pytest.mark.parametrize(("ready", "code"), [(True, 200), (False, 503)])
def test_readyz_tells_whether_there_is_a_model_and_why_not(client, monkeypatch, ready, code):
    status = SimpleNamespace(ready=ready, reason="" if ready else "loading model", model="Scripted")
    monkeypatch.setattr(runtime, "status", lambda: status)
    answer = client.get("/readyz")
    assert answer.status_code == code
    assert answer.json() == vars(status)


@pytest.mark.django_db
def test_readyz_is_red_while_the_database_is_away(client, monkeypatch):
    def away(*_):
        raise OperationalError("no route to host")

    monkeypatch.setattr(runtime, "status", lambda: READY)
    with monkeypatch.context() as broken:
        broken.setattr(connection, "cursor", away)
        answer = client.get("/readyz")
        assert answer.status_code == 503
        assert "database" in answer.json()["reason"]
    assert client.get("/readyz").status_code == 200
