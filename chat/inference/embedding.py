"""Texts as vectors: who may ask for them, in what order they are computed, and how long texts are cut into windows."""

import asyncio
import atexit
import threading
import time
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from chat.inference.request import EngineFailed, QueueFull

Vectors = NDArray[np.float32]

# A text is read up to this many windows of the model's context; what comes after them does not count.
MAX_WINDOWS = 8
# Jobs that may wait, of all people and of one person's programs.
MAX_WAITING = 64
MAX_WAITING_PERSON = 8
_SOON = 1  # seconds after which a full queue may have room
# How often somebody who gives way looks whether replies are still being written, in seconds.
_LOOK_EVERY = 0.02


class TooManyTexts(QueueFull):
    """Too many texts wait for their vectors."""

    def __str__(self) -> str:
        return f"Too many texts wait for the embedding model. Try again in {self.retry_after} s."


class Urgency(IntEnum):
    """Who waits for vectors: the first goes first, and each but the first gives way to replies that are written."""

    QUERY = 0  # a person's message, before its reply begins
    PROGRAM = 1  # the API
    INDEX = 2  # messages that are made findable in the background


# While replies are written, so many times as long as a batch took passes before the next one of this urgency. That is
# at most half of one core for programs, a twentieth for the index, and neither waits for ever.
_REST = {Urgency.QUERY: 0.0, Urgency.PROGRAM: 1.0, Urgency.INDEX: 19.0}


@dataclass(frozen=True)
class EmbeddingInfo:
    """What an embedding model is; vectors are only comparable where the fingerprint is the same.

    `context` is the tokens of one window at most; short ones are computed together, up to `sequences` windows with
    `batch` tokens.
    """

    name: str
    fingerprint: str
    dims: int
    context: int
    batch: int
    sequences: int
    vocabulary_size: int

    @property
    def max_tokens(self) -> int:
        """The most tokens of a text that count."""
        return MAX_WINDOWS * self.context


class EmbeddingModel(Protocol):
    """A loaded model. Only the embedder's thread calls it, but for tokenize."""

    info: EmbeddingInfo

    def tokenize(self, text: str) -> list[int]:
        """Token ids of a text, without those that mark its beginning and end; safe from any thread."""

    def vectors(self, windows: Sequence[Sequence[int]]) -> Vectors:
        """The vector of each window, not normalised: (len(windows), dims).

        `windows` is one of 1 to `context` tokens, or up to `sequences` with at most `batch` tokens together. Raises
        EngineFailed.
        """

    def close(self) -> None:
        """Free everything."""


class Embedder:
    """Computes vectors in a thread of its own; safe from any thread and event loop.

    Work is done in small batches, so that whoever is more urgent waits for one batch at most, about 80 ms with the
    default model. A sentence costs 4 to 14 ms of one core. `is_writing` tells whether replies are being written.
    """

    def __init__(self, model: EmbeddingModel, is_writing: Callable[[], bool] = lambda: False) -> None:
        self.info = model.info
        self._model, self._is_writing = model, is_writing
        self._jobs: list[_Job] = []  # guarded by _wakeup, in the order in which they take turns
        self._wakeup = threading.Condition()
        self._thread: threading.Thread | None = None
        self._closing = False
        self._free_at = dict.fromkeys(Urgency, 0.0)

    def embed(self, texts: Sequence[str], urgency: Urgency = Urgency.QUERY) -> Vectors:
        """The texts' vectors, each of length 1: (len(texts), dims).

        A text without any token (an empty one) gives zeros, near to nothing. One that is longer than the model's
        context is read in windows, whose mean counts; after MAX_WINDOWS of them it is cut. Raises QueueFull and
        EngineFailed.
        """
        return self.submit([self.tokenize(text) for text in texts], urgency).result()

    async def aembed(self, texts: Sequence[str], urgency: Urgency = Urgency.QUERY) -> Vectors:
        """The same for event loops; a caller that is cancelled takes its work along."""
        tokens = await asyncio.to_thread(lambda: [self.tokenize(text) for text in texts])
        return await asyncio.wrap_future(self.submit(tokens, urgency))

    def tokenize(self, text: str) -> list[int]:
        """Token ids of a text, without those that mark its beginning and end."""
        return self._model.tokenize(text)

    def submit(
        self, texts: Sequence[Sequence[int]], urgency: Urgency = Urgency.QUERY, person: Hashable = None
    ) -> "Future[Vectors]":
        """Queue texts given as tokens of this model; cancelling the future drops them.

        `person` is whose program asks, for whom a share of the queue is kept. Raises QueueFull and EngineFailed.
        """
        job = _Job(texts, urgency, person, self.info)
        with self._wakeup:
            self._check_room(person)
            self._jobs.append(job)
            if not self._thread:
                self._thread = threading.Thread(target=self._run, name="embedder", daemon=True)
                self._thread.start()
                atexit.register(self.close)
            self._wakeup.notify()
        return job.future

    def close(self) -> None:
        """End the thread after the batch that it computes, fail what waits, and free the model. Safe to call twice."""
        atexit.unregister(self.close)
        with self._wakeup:
            was_closing, self._closing = self._closing, True
            self._wakeup.notify()
        if self._thread:
            self._thread.join(timeout=10)
        elif not was_closing:
            self._model.close()

    def _check_room(self, person: Hashable) -> None:
        if self._closing:
            raise EngineFailed("The embedding model has been shut down.")
        if person is not None and sum(job.person == person for job in self._jobs) >= MAX_WAITING_PERSON:
            raise TooManyTexts(_SOON, personal=True)
        if len(self._jobs) >= MAX_WAITING:
            raise TooManyTexts(_SOON, personal=False)

    def _run(self) -> None:
        while job := self._next():
            started = time.monotonic()
            try:
                job.step(self._model)
            except Exception as error:
                job.fail(error)
            ended = time.monotonic()
            self._free_at[job.urgency] = ended + _REST[job.urgency] * (ended - started)
            self._put_back(job)
        for job in self._jobs:
            job.fail(EngineFailed("The embedding model has been shut down."))
        self._model.close()

    def _next(self) -> "_Job | None":
        """Wait for the most urgent job that may go on; None when it is time to end."""
        with self._wakeup:
            while not self._closing:
                self._jobs = [job for job in self._jobs if not job.future.done()]
                if not self._jobs:
                    self._wakeup.wait()
                    continue
                job = min(self._jobs, key=lambda job: job.urgency)
                if time.monotonic() >= self._free_at[job.urgency] or not self._is_writing():
                    return job
                self._wakeup.wait(_LOOK_EVERY)
        return None

    def _put_back(self, job: "_Job") -> None:
        """Let the next one of the same urgency have its turn: nobody waits for another's thousand texts."""
        with self._wakeup:
            self._jobs.remove(job)
            if not job.future.done():
                self._jobs.append(job)


@dataclass(eq=False)
class _Job:
    """Texts on their way to vectors; the windows of a text are summed up, weighted by their tokens."""

    texts: Sequence[Sequence[int]]
    urgency: Urgency
    person: Hashable
    info: EmbeddingInfo
    future: "Future[Vectors]" = field(default_factory=Future)

    def __post_init__(self) -> None:
        self._sums = np.zeros((len(self.texts), self.info.dims), np.float32)
        self._windows = [
            (row, text[start : start + self.info.context])
            for row, text in enumerate(self.texts)
            for start in range(0, min(len(text), self.info.max_tokens), self.info.context)
        ]
        self._at = 0

    def step(self, model: EmbeddingModel) -> None:
        """Compute the next few windows; after the last ones the future has its result."""
        if few := self._few():
            vectors = model.vectors([tokens for _, tokens in few])
            for (row, tokens), vector in zip(few, vectors, strict=True):
                self._sums[row] += len(tokens) * vector
            self._at += len(few)
        if self._at == len(self._windows) and self.future.set_running_or_notify_cancel():
            self.future.set_result(_normalised(self._sums))

    def fail(self, error: Exception) -> None:
        """Tell whoever waits."""
        if self.future.set_running_or_notify_cancel():
            self.future.set_exception(error)

    def _few(self) -> list[tuple[int, Sequence[int]]]:
        """The next windows, as many as one batch takes."""
        few: list[tuple[int, Sequence[int]]] = []
        size = 0
        for window in self._windows[self._at : self._at + self.info.sequences]:
            size += len(window[1])
            if few and size > self.info.batch:
                break
            few.append(window)
        return few


def _normalised(vectors: Vectors) -> Vectors:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return (vectors / np.where(lengths > 0, lengths, 1)).astype(np.float32)
