"""A client that asks for a stream and reads nothing is cut off before it fills the memory."""

import socket

import pytest

from chatsite.server import STREAM_HARD_LIMIT

pytestmark = pytest.mark.server


def test_a_stream_that_nobody_reads_ends(stub):
    with socket.create_connection((stub.host, stub.port)) as deaf:
        deaf.sendall(b"GET /flood HTTP/1.1\r\nHost: x\r\n\r\n")
        line = stub.child.stdout.readline()
    assert line.startswith("left after ")
    # Beside the limit there is what the operating system holds.
    assert STREAM_HARD_LIMIT < int(line.split()[-1]) < 4 * STREAM_HARD_LIMIT
