"""A frame over the hard limit ends the socket; up to it the application gets it."""

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

pytestmark = pytest.mark.server


def test_a_frame_under_the_hard_limit_reaches_the_application(stub):
    with connect(f"ws://127.0.0.1:{stub.port}/") as socket:
        socket.send("x" * 1_000_000)
        assert socket.recv(timeout=10) == "1000000"


def test_a_frame_over_the_hard_limit_closes_the_socket(stub):
    with connect(f"ws://127.0.0.1:{stub.port}/") as socket:
        socket.send("x" * 1_100_000)
        with pytest.raises(ConnectionClosed):
            socket.recv(timeout=10)
