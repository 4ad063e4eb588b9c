"""Children end with whoever started them, paused or not, and what is wrong with one is told."""

import os
import sys

import pytest

from benchmarks import servers
from benchmarks.client import ServerFailed

STUBBORN = """
import signal, sys
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
print("Loading", flush=True)
print("Serving on http://127.0.0.1:1234. Press Ctrl-C to stop.", flush=True)
signal.pause()
"""


def running(tmp_path, script):
    return servers._running([sys.executable, "-c", script], {**os.environ, "DATA_DIR": str(tmp_path)}, key="k")


def test_the_address_is_read_from_what_it_prints(tmp_path):
    with running(tmp_path, STUBBORN) as server:
        assert (server.url, server.key) == ("http://127.0.0.1:1234", "k")


def test_a_paused_child_ends_as_well(tmp_path):
    with running(tmp_path, STUBBORN) as server:
        server.pause()
    assert server.child.returncode == 0


def test_a_child_that_ends_early_leaves_its_last_words(tmp_path):
    with pytest.raises(ServerFailed, match="no such model"), running(tmp_path, "import sys; sys.exit('no such model')"):
        pass


def test_settings_of_whoever_measures_do_not_count(tmp_path, monkeypatch):
    monkeypatch.setenv("LLM_SLOTS", "1")
    monkeypatch.setenv("CHAT_SYSTEM_PROMPT", "Be brief.")
    made = servers.environment(tmp_path)
    assert "LLM_SLOTS" not in made
    assert "CHAT_SYSTEM_PROMPT" not in made
    assert (made["DATA_DIR"], made["HOST"], made["PORT"]) == (str(tmp_path), "127.0.0.1", "0")


def test_both_servers_wait_for_their_threads_in_the_same_way(tmp_path, monkeypatch):
    monkeypatch.delenv("GOMP_SPINCOUNT", raising=False)
    assert servers.environment(tmp_path)["GOMP_SPINCOUNT"] == "1000"
    monkeypatch.setenv("GOMP_SPINCOUNT", "7")
    assert servers.environment(tmp_path)["GOMP_SPINCOUNT"] == "7"
