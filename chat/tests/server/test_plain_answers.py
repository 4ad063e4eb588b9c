"""The last part of an ordinary answer is sent without an error: twisted lets the connection go with it."""

import http.client

import pytest

pytestmark = pytest.mark.server


@pytest.mark.parametrize("connection", ["close", "keep-alive"])
def test_the_application_goes_on_after_its_answer(stub, connection):
    link = http.client.HTTPConnection(stub.host, stub.port, timeout=20)
    link.request("GET", "/told", headers={"Connection": connection})
    assert link.getresponse().read() == b"0"
    link.close()
    assert stub.child.stdout.readline() == "answered\n"
