"""With LLM_PARK_DIR a restart forgets nothing: what was read before the end is not read again after it."""

import httpx
import pytest

from chat.tests.api.serving import serving

from .process import ServerProcess

pytestmark = [pytest.mark.server, pytest.mark.model]


def ask(server, key, messages):
    """The answer's text, and how many of the prompt's tokens were known."""
    body = {"messages": messages, "max_tokens": 8, "temperature": 0}
    headers = {"Authorization": f"Bearer {key}"}
    answer = httpx.post(f"{server.url}/v1/chat/completions", json=body, headers=headers, timeout=120).json()
    return answer["choices"][0]["message"]["content"], answer["usage"]["prompt_tokens_details"]["cached_tokens"]


def test_a_conversation_goes_on_where_it_was(data, model_path):
    settings = {
        "LLM_MODEL_PATH": str(model_path),
        "LLM_CONTEXT": "1024",
        "LLM_SLOTS": "2",
        "LLM_PARK_DIR": str(data / "parked"),
    }
    talk = [{"role": "user", "content": "The quick brown fox jumps over the lazy dog. " * 20}]
    with serving(data, **settings) as server:
        text, _ = ask(server, server.keys[0], talk)
        code, _ = server.end()
        assert code == 0
    talk += [{"role": "assistant", "content": text}, {"role": "user", "content": "And then?"}]
    with ServerProcess(data, LLM_AUTOSTART="1", **settings) as again:
        again.wait_until_ready()
        _, cached = ask(again, server.keys[0], talk)
    assert cached > 150
