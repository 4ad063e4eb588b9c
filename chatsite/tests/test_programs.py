"""What programs ask for goes the short way, with the same refusals; pages keep all of theirs."""

import pytest
from channels.testing import HttpCommunicator
from django.core.handlers.asgi import ASGIHandler

from chatsite.programs import beside, is_for_programs


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1", "/chat", "/health", "/healthz", "/readyz", "/metrics"])
def test_addresses_of_programs(path):
    assert is_for_programs(path)


@pytest.mark.parametrize("path", ["/", "/chats", "/docs", "/openapi.json", "/conversations/", "/v10", "/healthy", ""])
def test_addresses_of_pages(path):
    assert not is_for_programs(path)


async def get(path, host="localhost"):
    asked = HttpCommunicator(beside(ASGIHandler()), "GET", path, headers=[(b"host", host.encode())])
    answer = await asked.get_response(timeout=10)
    await asked.wait()
    return answer["status"], {name.decode().lower(): value.decode() for name, value in answer["headers"]}


async def test_a_check_is_answered_without_cookies_and_without_guessing():
    status, headers = await get("/healthz")
    assert status == 200
    assert headers["x-content-type-options"] == "nosniff"
    assert "set-cookie" not in headers


async def test_names_of_other_sites_are_refused():
    assert (await get("/healthz", host="evil.example"))[0] == 400


@pytest.mark.django_db(transaction=True)
async def test_without_a_key_nothing_is_told():
    assert (await get("/v1/models"))[0] == 401


async def test_pages_keep_their_policy():
    status, headers = await get("/docs")
    assert status == 200
    assert "script-src 'self'" in headers["content-security-policy"]
