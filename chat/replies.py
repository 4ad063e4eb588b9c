"""Replies while they are being written: kept in numbered parts that any number of readers follow from any point."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of a reply; `seq` numbers the last of the parts that it stands for, the first part is 1."""

    seq: int
    text: str
    reasoning: str
    closed: str  # HTML to append to what is final
    open: str  # HTML that replaces the open end


@dataclass(frozen=True, slots=True)
class Queued:
    """The reply waits; position 1 is next, and in about so many seconds it begins."""

    position: int
    seconds: int


@dataclass(frozen=True, slots=True)
class Ended:
    """The reply has ended; `message` is its last state as the frames show it."""

    message: dict[str, Any]


Event = Queued | Part | Ended


class Reply:
    """One reply in the making. Belongs to the event loop; only its construction may happen in another thread."""

    def __init__(self, pk: int, *, conversation: UUID, owner: int) -> None:
        """`pk` is the message that holds it in the database."""
        self.pk = pk
        self.conversation = conversation
        self.owner = owner
        self.source = "page"  # Or "api": where it was asked for.
        self.position = 0  # In the queue; 0 when it does not wait.
        self.seconds = 0  # About how long it will wait.
        self.stopping = False
        self.leaving = False  # It ends because the server does, not because a person wants it.
        self.final: dict[str, Any] | None = None
        # Set by whoever writes the reply; called when somebody wants it to end.
        self.on_stop: Callable[[], object] = lambda: None
        self._texts: list[str] = []
        self._reasonings: list[str] = []
        self._closed: list[str] = []
        self._open = ""
        self._changed = asyncio.Event()

    @property
    def seq(self) -> int:
        """Number of the last part."""
        return len(self._texts)

    @property
    def text(self) -> str:
        """Everything that was said so far."""
        return "".join(self._texts)

    @property
    def reasoning(self) -> str:
        """Everything that was thought so far."""
        return "".join(self._reasonings)

    def wait_at(self, position: int, seconds: int) -> None:
        """It stands at this place in the queue now, and will begin in about so many seconds."""
        self.position, self.seconds = position, seconds
        self._wake()

    def append(self, text: str, reasoning: str, closed: str, open: str) -> None:  # noqa: A002
        """Add a part; `open` replaces the open end of the part before."""
        assert self.final is None, "a reply that has ended takes no more parts"
        self.position = 0
        self._texts.append(text)
        self._reasonings.append(reasoning)
        self._closed.append(closed)
        self._open = open
        self._wake()

    def stop(self, *, leaving: bool = False) -> None:
        """Ask for the end; the one who writes it decides when. Asking again changes nothing."""
        if not self.stopping and self.final is None:
            self.stopping, self.leaving = True, leaving
            self.on_stop()

    def finish(self, message: dict[str, Any]) -> None:
        """The reply has ended and looks like this."""
        assert self.final is None, "a reply ends once"
        self.final = message
        self._wake()

    async def follow(self, after: int = 0) -> AsyncIterator[Event]:
        """What comes beyond part `after`: parts (those that wait are merged into one), places in the queue, the end.

        A slow reader holds nothing up and costs no memory: it finds what it missed in one larger part.
        """
        seen, place = min(after, self.seq), Queued(0, 0)
        while True:
            changed = self._changed
            if self.seq > seen:
                part = self._since(seen)
                seen = part.seq
                yield part
            elif self.final is not None:
                yield Ended(self.final)
                return
            elif self.position and (now := Queued(self.position, self.seconds)) != place:
                place = now
                yield place
            else:
                await changed.wait()

    def _since(self, seen: int) -> Part:
        text, reasoning, closed = ("".join(parts[seen:]) for parts in (self._texts, self._reasonings, self._closed))
        return Part(self.seq, text, reasoning, closed, self._open)

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()


class Running:
    """The replies that this process is writing, by their number."""

    def __init__(self) -> None:
        """Nothing runs yet."""
        self._replies: dict[int, Reply] = {}

    def __iter__(self) -> Iterator[Reply]:
        """All of them, oldest first."""
        return iter(list(self._replies.values()))

    def add(self, reply: Reply) -> None:
        """Keep it until it is dropped. Safe from any thread."""
        self._replies[reply.pk] = reply

    def get(self, pk: int, conversation: UUID) -> Reply | None:
        """The reply of this number if it belongs to this conversation."""
        reply = self._replies.get(pk)
        return reply if reply and reply.conversation == conversation else None

    def drop(self, reply: Reply) -> None:
        """Forget it: the database has it now. Who follows it keeps it until he has read its end."""
        if self._replies.get(reply.pk) is reply:
            del self._replies[reply.pk]

    def waiting(self, owner: int | None = None) -> int:
        """How many wait in the queue, of one person or of all."""
        return sum(1 for reply in self if reply.position and owner in (None, reply.owner))

    def soonest(self, owner: int | None = None) -> int:
        """Seconds until one of those who wait begins, of one person or of all; 1 to 120."""
        seconds = (reply.seconds for reply in self if reply.position and owner in (None, reply.owner))
        return max(1, min(120, min(seconds, default=1)))


running = Running()
