"""Only a key in the header opens the API."""

import pytest
from django.test import AsyncClient

from accounts import keys

from .test_chat_completions import ASK

PATH = "/v1/chat/completions"


@pytest.fixture(autouse=True)
def no_failures():
    keys.failures.clear()
    yield
    keys.failures.clear()


@pytest.mark.parametrize("header", [None, "", "Bearer", "Bearer ", "Bearer chat_wrong", "Basic YTpi", "Token x"])
async def test_without_a_valid_key_it_is_401(serve, program, header):
    serve()
    answer = await program.post(PATH, ASK, headers={"authorization": header} if header is not None else {})
    assert answer.status_code == 401
    assert answer["WWW-Authenticate"] == "Bearer"
    assert answer.body["error"]["code"] == "invalid_api_key"


async def test_a_session_and_a_query_string_open_nothing(serve, program, alice):
    serve()
    client = AsyncClient(enforce_csrf_checks=True)
    await client.aforce_login(alice)
    for query in ("", f"?api_key={program.key}", f"?key={program.key}"):
        answer = await client.post(PATH + query, ASK, content_type="application/json")
        assert answer.status_code == 401


async def test_a_key_needs_no_csrf_token(serve, program):
    serve()
    client = AsyncClient(enforce_csrf_checks=True)
    headers = {"authorization": f"Bearer {program.key}"}
    assert (await client.post(PATH, ASK, content_type="application/json", headers=headers)).status_code == 200


async def test_guessing_is_slowed_down(serve, program):
    serve()
    for _ in range(5):
        await program.post(PATH, ASK, headers={"authorization": "Bearer chat_wrong"})
    answer = await program.post(PATH, ASK, headers={"authorization": "Bearer chat_wrong"})
    assert answer.status_code == 429
    assert int(answer["Retry-After"]) > 0
    assert answer.body["error"]["code"] == "rate_limit_exceeded"
