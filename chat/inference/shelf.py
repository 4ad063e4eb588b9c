"""Parked conversations in files, so that a restart forgets nothing: written and read in a thread of their own."""

import bisect
import fcntl
import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import IO

from chat.inference.batch import ModelInfo
from chat.inference.config import EngineConfig
from chat.inference.parking import WORTHWHILE, Parked, usable
from chat.inference.request import Request
from chat.inference.shelf_file import SUFFIX, UNFINISHED, Listed, list_file, name_of, read_file, write_file

logger = logging.getLogger(__name__)

# Copies that wait to be written take memory beside the budget, so there cannot be many.
_MOST_WAITING = 256 * 1024 * 1024
# How long the end of the program may take.
_SECONDS_TO_CLOSE = 5.0


def shelf_for(config: EngineConfig, info: ModelInfo) -> "FileShelf | None":
    """The shelf that the settings ask for, bound to this model; None, with a line in the log, when there is none."""
    if config.park_dir is None:
        return None
    binding = f"{info.fingerprint} {info.layout} {info.context}"
    try:
        return FileShelf(config.park_dir, binding, config.park_disk_mb * 1024 * 1024, can_trim=info.can_trim)
    except OSError as error:
        reason = "another process uses it" if isinstance(error, BlockingIOError) else error
        logger.warning("Conversations are not parked in %s: %s", config.park_dir, reason)
        return None


class FileShelf:
    """Implements chat.inference.parking.Shelf in a directory of its own, up to `budget` bytes.

    A file is bound to `binding`, which names the model and how states are written; others are deleted, like damaged
    and unfinished ones. What is fetched leaves the shelf. Methods may be called from any thread; only `close` waits.
    Raises BlockingIOError while another process uses the directory, and OSError where nobody can.
    """

    def __init__(self, directory: Path, binding: str, budget: int, *, can_trim: bool = True) -> None:
        self._directory, self._binding, self._budget, self._can_trim = directory, binding, budget, can_trim
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._lock_file = _locked(directory / "lock")
        self._work = threading.Condition()
        # Guarded by _work: files, the oldest first; copies to be written; for whom something is to be read.
        self._files = self._list()
        self._waiting: deque[Parked] = deque()
        self._written: Parked | None = None
        self._wanted: deque[tuple[Listed, Request, Callable[[], None]]] = deque()
        self._reading: Request | None = None
        self._closes_at = 0.0
        self._make_room(0, time.time())
        self._thread = threading.Thread(target=self._run, name="parking", daemon=True)
        self._thread.start()

    @property
    def num_parked(self) -> int:
        """How many copies are in files."""
        return len(self._files)

    @property
    def num_bytes(self) -> int:
        """What the files take."""
        with self._work:
            return self._size()

    def put(self, parked: Parked, *, always: bool = False) -> None:
        """Write a copy soon; unless `always`, not if too much waits to be written already."""
        with self._work:
            waiting = sum(other.state.nbytes for other in self._waiting)
            if always or waiting + parked.state.nbytes <= _MOST_WAITING:
                self._waiting.append(parked)
                self._work.notify_all()

    def fetch(self, request: Request, then: Callable[[], None]) -> bool:
        """Take back what spares this request most tokens, into `request.fetched`; call `then` when it is there.

        False when there is nothing to wait for; `then` is not called then. Otherwise it is called from another thread.
        """
        with self._work:
            for parked in self._unwritten():
                if parked.key == request.cache_key and self._usable(parked, request) >= WORTHWHILE:
                    self._drop(parked)
                    request.fetched = parked
                    return False
            mine = [file for file in self._files if file.is_of(request.cache_key)]
            best = max(mine, key=lambda file: self._usable(file, request), default=None)
            if self._closes_at or best is None or self._usable(best, request) < WORTHWHILE:
                return False
            self._wanted.append((best, request, then))
            self._work.notify_all()
            return True

    def forget(self, key: str) -> None:
        """Drop all copies of a conversation; none of them is there any more when this returns."""
        with self._work:
            for parked in self._unwritten():
                if parked.key == key:
                    self._drop(parked)
            for file in [file for file in self._files if file.is_of(key)]:
                self._delete(file)
            reading = [request for _, request, _ in self._wanted] + [self._reading]
            for request in reading:
                if request and request.cache_key == key:
                    request.is_forgotten = True

    def close(self) -> None:
        """Write what waits, what was parked last first, as far as that is quickly done, and end."""
        with self._work:
            self._waiting = deque(sorted(self._waiting, key=lambda parked: parked.parked_at, reverse=True))
            self._closes_at = time.monotonic() + _SECONDS_TO_CLOSE
            self._work.notify_all()
        self._thread.join(2 * _SECONDS_TO_CLOSE)
        self._lock_file.close()

    # --- The thread of the shelf ------------------------------------------------------------------------------------

    def _run(self) -> None:
        while work := self._next():
            try:
                work()
            except Exception:
                logger.exception("The parking of conversations in files met an error")

    def _next(self) -> Callable[[], None] | None:
        """What to do next; None at the end. Whoever waits for a copy goes before those that are written."""
        with self._work:
            while not (self._wanted or self._waiting or self._closes_at):
                self._work.wait()
            if self._wanted:
                file, request, then = self._wanted.popleft()
                self._reading = request
                return lambda: self._read(file, request, then)
            if not self._waiting or (self._closes_at and time.monotonic() > self._closes_at):
                return None
            parked = self._written = self._waiting.popleft()
            return lambda: self._write(parked)

    def _read(self, file: Listed, request: Request, then: Callable[[], None]) -> None:
        try:
            parked = read_file(file, self._binding, request.cache_key)
            with self._work:
                if file in self._files:  # else it was forgotten, or fetched for another request
                    self._delete(file)
                    request.fetched = parked
        finally:
            then()
            with self._work:
                self._reading = None

    def _write(self, parked: Parked) -> None:
        unfinished = self._directory / f"{name_of(parked)}{UNFINISHED}"
        try:
            with self._work:
                has_room = self._make_room(parked.state.nbytes, parked.parked_at)
            if has_room:
                self._finish(unfinished, write_file(unfinished, parked, self._binding), parked.parked_at)
        except OSError as error:
            logger.warning("A conversation could not be parked in %s: %s", self._directory, error)
        finally:
            unfinished.unlink(missing_ok=True)
            with self._work:
                self._written = None

    def _finish(self, unfinished: Path, listed: Listed, parked_at: float) -> None:
        """Give a written file its name, unless the copy was forgotten or taken back while it was written."""
        with self._work:
            if self._written is None:
                return
            for other in [file for file in self._files if file.is_continued_by(listed)]:
                self._delete(other)
            if self._make_room(listed.size, parked_at):
                unfinished.replace(listed.path)
                bisect.insort(self._files, listed, key=lambda file: file.parked_at)

    # --- With the lock held -----------------------------------------------------------------------------------------

    def _usable(self, copy: Parked | Listed, request: Request) -> int:
        return usable(copy.tokens, request.prompt, can_trim=self._can_trim)

    def _unwritten(self) -> list[Parked]:
        return [*self._waiting, *([self._written] if self._written else [])]

    def _drop(self, parked: Parked) -> None:
        if parked is self._written:
            self._written = None
        else:
            self._waiting.remove(parked)

    def _make_room(self, size: int, before: float) -> bool:
        """Delete the oldest files until so many bytes are free, none newer than `before`; whether that was enough."""
        while self._size() + size > self._budget:
            if not self._files or self._files[0].parked_at > before:
                return False
            self._delete(self._files[0])
        return True

    def _size(self) -> int:
        return sum(file.size for file in self._files)

    def _delete(self, file: Listed) -> None:
        self._files.remove(file)
        file.path.unlink(missing_ok=True)

    def _list(self) -> list[Listed]:
        for path in self._directory.glob(f"*{UNFINISHED}"):
            path.unlink(missing_ok=True)
        listed = []
        for path in self._directory.glob(f"*{SUFFIX}"):
            if file := list_file(path, self._binding):
                listed.append(file)
            else:
                path.unlink(missing_ok=True)
        return sorted(listed, key=lambda file: file.parked_at)


def _locked(path: Path) -> IO[str]:
    file = path.open("w")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        raise
    return file
