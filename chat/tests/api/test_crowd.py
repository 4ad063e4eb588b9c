"""Many programs at once, and programs that leave: each gets an answer or a clean refusal, nothing is left behind."""

import asyncio
import http.client
import json
import shutil
import socket
import time
from pathlib import Path

import httpx
import openai
import pytest

from chat.tests.server.conftest import prepared  # noqa: F401

from .serving import serving

pytestmark = pytest.mark.server

LONG = " ".join(f"word{number}" for number in range(1900))
ASK = {"messages": [{"role": "user", "content": "Hello"}], "max_new_tokens": 2048}


@pytest.fixture
def data(prepared, tmp_path):  # noqa: F811
    return shutil.copytree(prepared, tmp_path / "data")


def headers(server, person=0):
    return {"Authorization": f"Bearer {server.keys[person]}", "Content-Type": "application/json"}


def memory(server):
    """Bytes that the server's process holds."""
    status = Path(f"/proc/{server.child.pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) * 1024


async def test_a_hundred_at_once_are_answered_or_refused_cleanly(data):
    people = [f"person{number}" for number in range(5)]
    script = {"slots": 4, "step_seconds": 0.002}
    with serving(data, script=script, people=people, LLM_QUEUE_LIMIT="60", LLM_QUEUE_LIMIT_PERSON="15") as server:
        limits = httpx.Limits(max_connections=100)
        async with httpx.AsyncClient(base_url=server.url, limits=limits, timeout=60) as client:
            before = memory(server)
            asked = [client.post("/chat", json=ASK, headers=headers(server, n % 5)) for n in range(100)]
            answers = await asyncio.gather(*asked)
            codes = [answer.status_code for answer in answers]
            assert set(codes) <= {200, 429, 503}
            assert codes.count(200) >= 60
            for answer in answers:
                if answer.status_code == 200:
                    assert answer.json()["content"] == "You said: Hello"
                else:
                    assert 1 <= int(answer.headers["Retry-After"]) <= 120
                    assert answer.json()["error"]["message"]
            assert {n % 5 for n, code in enumerate(codes) if code == 200} == set(range(5)), "somebody starved"
            assert memory(server) - before < 100_000_000
            assert (await client.post("/chat", json=ASK, headers=headers(server))).status_code == 200


def test_a_full_queue_is_openais_rate_limit_error(data):
    script = {"slots": 1, "step_seconds": 0.01, "replies": [{"say": LONG}]}
    with serving(data, script=script, LLM_QUEUE_LIMIT_PERSON="1") as server:
        client = openai.OpenAI(base_url=f"{server.url}/v1", api_key=server.keys[0], max_retries=0, timeout=30)
        ask = {"model": "default", "messages": ASK["messages"], "stream": True}
        with client.chat.completions.create(**ask) as first, client.chat.completions.create(**ask):
            next(iter(first))
            with pytest.raises(openai.RateLimitError) as full:
                client.chat.completions.create(**ask)
        assert full.value.code == "rate_limit_exceeded"
        assert int(full.value.response.headers["Retry-After"]) >= 1


@pytest.mark.parametrize("stream", [True, False])
def test_a_client_that_leaves_gives_its_place_to_the_next(data, stream):
    """The first reply would take forty seconds, and there is one place."""
    script = {"slots": 1, "step_seconds": 0.02, "replies": [{"when": "Long", "say": LONG}]}
    with serving(data, script=script) as server:
        left = http.client.HTTPConnection(server.host, server.port, timeout=20)
        body = ASK | {"stream": stream, "messages": [{"role": "user", "content": "Long"}]}
        left.request("POST", "/chat", json.dumps(body), headers(server))
        if stream:
            left.getresponse().read(100)
        else:
            time.sleep(0.5)  # nothing tells a client that its reply has begun
        left.sock.shutdown(socket.SHUT_RDWR)
        left.close()
        began = time.monotonic()
        answer = httpx.post(f"{server.url}/chat", json=ASK, headers=headers(server), timeout=30)
        assert answer.json()["content"] == "You said: Hello"
        assert time.monotonic() - began < 5


def test_health_answers_at_once_beside_a_long_reply(data):
    script = {"slots": 1, "step_seconds": 0.02, "replies": [{"say": LONG}]}
    with serving(data, script=script) as server:
        address = f"{server.url}/chat"
        with httpx.stream("POST", address, json=ASK | {"stream": True}, headers=headers(server), timeout=30) as reply:
            next(reply.iter_bytes())
            began = time.monotonic()
            assert httpx.get(f"{server.url}/health").json()["status"] == "ok"
            assert time.monotonic() - began < 1
