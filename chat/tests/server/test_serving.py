"""`manage.py serve` opens the site, or says in one line why it cannot."""

import re
import signal
import socket
import subprocess
import sys

import pytest

from .process import ServerProcess

pytestmark = pytest.mark.server


def _refused(data, **variables):
    """Start a server that cannot start; its error output, which must be one line."""
    done = ServerProcess(data, **variables).manage("serve")
    assert done.returncode == 1
    assert len(done.stderr.strip().splitlines()) == 1, done.stderr
    return done.stderr


def test_a_prepared_site_answers_and_ends_on_ctrl_c(data):
    with ServerProcess(data) as server:
        assert server.get("/healthz") == 200
        code, seconds = server.end(signal.SIGINT)
    assert code == 0
    assert seconds < 2


def test_its_output_has_the_address_and_no_secret(data):
    with ServerProcess(data) as server:
        server.end()
        printed = server.seen + server.child.stdout.read() + server.log.read_text()
    assert printed == f"Serving on {server.url}. Press Ctrl-C to stop.\n"


def test_without_a_model_the_site_is_up_and_says_why(data):
    with ServerProcess(data, LLM_AUTOSTART="1", LLM_MODEL_PATH="none.gguf") as server:
        assert server.get("/healthz") == 200
        assert server.get("/readyz") == 503


def test_on_every_address_it_says_so(data):
    with ServerProcess(data, HOST="0.0.0.0") as server:
        assert "this machine's other addresses" in server.seen


def test_the_health_check_passes_whatever_names_are_allowed_and_fails_when_nobody_answers(data):
    with ServerProcess(data, ALLOWED_HOSTS="chat.example.org") as server:
        check = [sys.executable, "-m", "chatsite.healthcheck"]
        assert subprocess.call(check, env=server.env | {"PORT": str(server.port)}) == 0
        server.end()
        assert subprocess.call(check, env=server.env | {"PORT": str(server.port)}) == 1


def test_a_port_in_use_is_named(data):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = str(other.getsockname()[1])
        assert f"port {port}: Address already in use" in _refused(data, PORT=port)


def test_a_database_that_is_behind_names_the_command(tmp_path):
    assert "manage.py prepare" in _refused(tmp_path)


def test_data_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").touch()
    assert "file/data" in _refused(tmp_path, DATA_DIR=str(tmp_path / "file" / "data"))


def test_a_wrong_setting_is_named(tmp_path):
    assert "PORT='many'" in _refused(tmp_path, PORT="many")


def test_preparing_prints_the_first_link(prepared):
    assert re.search(r"http://\S+/setup/\S{20,}/", (prepared / "prepare.log").read_text())
