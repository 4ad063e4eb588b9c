"""Servers for tests: the bare one around a stub, and the whole site."""

import pytest

from .process import ServerProcess

STUB = ("-m", "chat.tests.server.stub")


@pytest.fixture
def stub(tmp_path):
    """Our server around a tiny application."""
    with ServerProcess(tmp_path, *STUB, BODY_MAX_BYTES="65536") as server:
        yield server


@pytest.fixture
def site(tmp_path):
    """The whole site, prepared, without a model."""
    server = ServerProcess(tmp_path, LLM_MODEL_PATH=str(tmp_path / "none.gguf"))
    done = server.manage("prepare")
    assert done.returncode == 0, done.stderr
    with server:
        yield server
