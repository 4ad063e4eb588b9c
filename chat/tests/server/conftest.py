"""Servers for tests: the bare one around a stub, and the whole site."""

import shutil

import pytest

from .process import ServerProcess

STUB = ("-m", "chat.tests.server.stub")


@pytest.fixture
def stub(tmp_path):
    """Our server around a tiny application."""
    with ServerProcess(tmp_path, *STUB, BODY_MAX_BYTES="65536") as server:
        yield server


@pytest.fixture(scope="session")
def prepared(tmp_path_factory):
    """A data directory as `prepare` leaves it, with what it printed in `prepare.log`."""
    data = tmp_path_factory.mktemp("prepared")
    done = ServerProcess(data, LLM_MODEL_PATH="none.gguf").manage("prepare")
    assert done.returncode == 0, done.stderr
    (data / "prepare.log").write_text(done.stdout)
    return data


@pytest.fixture
def data(prepared, tmp_path):
    """A prepared data directory of this test's own."""
    return shutil.copytree(prepared, tmp_path / "data")
