"""A signal ends the server within two seconds with exit code 0, whatever is open."""

import http.client
import signal
import socket

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from .conftest import STUB
from .process import ServerProcess

pytestmark = pytest.mark.server


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_with_nothing_open_it_ends_at_once(stub, number):
    code, seconds = stub.end(number)
    assert code == 0
    assert seconds < 1
    assert "finishing" in stub.child.stdout.read()


def test_an_open_socket_is_told_to_come_back(stub):
    with connect(f"ws://127.0.0.1:{stub.port}/") as client:
        client.send("hello")
        client.recv(timeout=10)
        stub.child.send_signal(signal.SIGTERM)
        with pytest.raises(ConnectionClosed) as closed:
            client.recv(timeout=10)
    assert closed.value.rcvd.code == 4503
    assert stub.child.wait(timeout=2) == 0


def test_an_open_stream_does_not_hold_it(stub):
    connection = http.client.HTTPConnection("127.0.0.1", stub.port, timeout=10)
    connection.request("GET", "/endless")
    connection.getresponse().read(1)
    code, seconds = stub.end()
    connection.close()
    assert code == 0
    assert seconds < 2


def test_an_application_that_hears_no_disconnect_does_not_hold_it(stub):
    with connect(f"ws://127.0.0.1:{stub.port}/deaf", close_timeout=0):
        code, seconds = stub.end()
    assert code == 0
    assert seconds < 2


def test_a_finish_that_hangs_does_not_hold_it(tmp_path):
    with ServerProcess(tmp_path, *STUB, HANG="1") as server:
        code, seconds = server.end()
    assert code == 0
    assert seconds < 2


def test_a_second_signal_ends_it_without_waiting(tmp_path):
    with ServerProcess(tmp_path, *STUB, HANG="1") as server:
        server.child.send_signal(signal.SIGINT)
        assert server.child.stdout.readline() == "finishing\n"
        code, seconds = server.end(signal.SIGINT)
    assert code == 0
    assert seconds < 0.5


def test_nobody_is_taken_in_while_it_ends(tmp_path):
    with ServerProcess(tmp_path, *STUB, HANG="1") as server:
        server.child.send_signal(signal.SIGTERM)
        server.child.stdout.readline()
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", server.port), timeout=1).close()
