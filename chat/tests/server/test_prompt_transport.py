"""What is written to a connection goes out at once, in its order, whatever the other side's pace."""

import socket

import pytest
from twisted.internet.protocol import Protocol

from chatsite.server import PromptTransport


class Reactor:
    """Notes who waits to write."""

    def __init__(self):
        self.writers = set()

    def addWriter(self, writer):  # noqa: N802
        self.writers.add(writer)

    def removeWriter(self, writer):  # noqa: N802
        self.writers.discard(writer)

    def addReader(self, reader):  # noqa: N802
        """Nothing is read here."""


@pytest.fixture
def pair():
    """A transport, its reactor and the socket on the other side."""
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    reactor = Reactor()
    transport = PromptTransport(ours, Protocol(), ("", 0), None, 1, reactor)
    yield transport, reactor, theirs
    ours.close()
    theirs.close()


def test_a_small_write_needs_no_reactor(pair):
    transport, reactor, theirs = pair
    transport.write(b"one ")
    transport.writeSequence([b"two ", b"three"])
    assert not reactor.writers
    assert theirs.recv(100) == b"one two three"


def test_what_does_not_fit_waits_and_nothing_overtakes_it(pair):
    transport, reactor, theirs = pair
    sent = bytes(range(256)) * 40_000
    transport.write(sent)
    transport.write(b"end")
    assert reactor.writers == {transport}
    got = bytearray()
    while len(got) < len(sent) + 3:
        got += theirs.recv(1 << 20)
        if reactor.writers:
            transport.doWrite()
    assert bytes(got) == sent + b"end"
    assert not reactor.writers


def test_a_connection_that_is_gone_is_left_to_the_reactor(pair):
    transport, reactor, theirs = pair
    theirs.close()
    transport.write(b"one")
    assert reactor.writers == {transport}
