"""How much one client may do: frames in a stretch of time, and sockets of one person."""

import time
from collections import Counter, deque

WINDOW = 10.0  # Seconds.
# A client that sends this many times what is allowed is cut off.
FAR_TOO_MANY = 5


class FrameRate:
    """Counts the frames of one socket within the last ten seconds."""

    def __init__(self, most: int) -> None:
        """`most` frames are allowed."""
        self._most = most
        self._times: deque[float] = deque(maxlen=most * FAR_TOO_MANY)

    def count(self) -> None:
        """One more has come."""
        self._times.append(time.monotonic())
        while self._times[0] < self._times[-1] - WINDOW:
            self._times.popleft()

    @property
    def is_exceeded(self) -> bool:
        """The last one was too many."""
        return len(self._times) > self._most

    @property
    def is_far_exceeded(self) -> bool:
        """So many that the client does not listen to what it is told."""
        return len(self._times) == self._times.maxlen


class Seats:
    """Who has how many sockets open in this process."""

    def __init__(self) -> None:
        """Nobody has any."""
        self._taken: Counter[int] = Counter()

    def take(self, person: int, most: int) -> bool:
        """One more for this person; False if he has `most` already."""
        if self._taken[person] >= most:
            return False
        self._taken[person] += 1
        return True

    @property
    def num_taken(self) -> int:
        """Sockets that are open, of all people."""
        return self._taken.total()

    def give_back(self, person: int) -> None:
        """One less."""
        self._taken[person] -= 1
        if not self._taken[person]:
            del self._taken[person]


seats = Seats()
