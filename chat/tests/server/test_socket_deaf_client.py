"""A client that opens a socket and does not read is given up, and little is held for it until then."""

import re
import socket

import pytest
from websockets.sync.client import connect

from .process import ServerProcess

pytestmark = pytest.mark.server

HANDSHAKE = (
    b"GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)


@pytest.fixture
def endless(tmp_path):
    with ServerProcess(tmp_path, "-m", "chat.tests.server.endless") as server:
        yield server


def test_a_client_that_does_not_read_is_given_up_with_little_held(endless):
    with socket.create_connection((endless.host, endless.port)) as deaf:
        deaf.sendall(HANDSHAKE)
        said = endless.child.stdout.readline()
    held = int(re.search(r"given up with (\d+) bytes", said)[1])
    assert 256 * 1024 < held < 1024 * 1024


def test_a_client_that_reads_gets_as_much_as_there_is(endless):
    with connect(f"ws://{endless.host}:{endless.port}/", max_size=None) as client:
        assert sum(len(client.recv(timeout=10)) for _ in range(60)) > 3_000_000
