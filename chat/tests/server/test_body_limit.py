"""A body that is too large is refused before it is read."""

import contextlib
import http.client
import json
import socket

import pytest

pytestmark = pytest.mark.server


def _post(server, body, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    connection.request("POST", "/", body=body, headers=headers, encode_chunked="Transfer-Encoding" in headers)
    answer = connection.getresponse()
    text = answer.read()
    connection.close()
    return answer.status, text


def test_a_body_up_to_the_limit_arrives_whole(stub):
    assert _post(stub, b"x" * 65536) == (200, b"65536")


def test_a_length_over_the_limit_is_refused_before_the_body_is_sent(stub):
    with socket.create_connection(("127.0.0.1", stub.port), timeout=10) as client:
        client.sendall(b"POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 999999999\r\n\r\n")
        answer = client.recv(4096)
    assert answer.startswith(b"HTTP/1.1 413 ")
    assert b"65536 bytes" in answer
    assert b"100 Continue" not in answer


def test_a_client_that_sends_it_all_the_same_gets_the_answer(stub):
    status, text = _post(stub, b"x" * 5_000_000)
    assert status == 413
    assert json.loads(text)["error"]["code"] == "request_too_large"


def test_chunks_are_counted_and_cut(stub):
    parts = (b"x" * 10_000 for _ in range(100))
    status, _ = _post(stub, parts, **{"Transfer-Encoding": "chunked"})
    assert status == 413


def test_the_next_request_is_served(stub):
    _post(stub, b"x" * 100_000)
    assert _post(stub, b"x") == (200, b"1")


def test_refused_connections_are_closed_and_forgotten(stub):
    with socket.create_connection(("127.0.0.1", stub.port), timeout=10) as client:
        client.sendall(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n")
        client.recv(4096)
        with contextlib.suppress(ConnectionResetError):
            assert client.recv(4096) == b""
