"""The engine: one thread that schedules, decodes and hands out text, for any number of conversations at once."""

import asyncio
import atexit
import logging
import threading
import time
from collections import Counter, deque
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from typing import Any

from chat.inference.batch import Batch, ModelInfo, Outcome, Runner, StepFailed
from chat.inference.config import EngineConfig
from chat.inference.observer import Observer, Unobserved
from chat.inference.prompt import PromptEncoder
from chat.inference.reply import Reply
from chat.inference.request import (
    EngineFailed,
    Event,
    Finished,
    FinishReason,
    Preempted,
    Priority,
    PromptTooLong,
    QueueFull,
    Request,
    UnusableGrammar,
)
from chat.inference.scheduler import Scheduler
from chat.inference.schema import checked_schema
from chat.inference.slots import SlotTable

logger = logging.getLogger(__name__)

Deliver = Callable[[Event | Exception], None]


@dataclass(frozen=True)
class Stats:
    """A look at the engine: counts of requests, slots, steps and tokens since it started."""

    running: int
    waiting: int
    slots_free: int
    slots: int
    steps: int
    tokens_read: int
    tokens_cached: int
    tokens_written: int


class Engine:
    """Owns a runner. `generate` may be called from any event loop; everything else happens in the engine's thread."""

    def __init__(self, runner: Runner, config: EngineConfig, observer: Observer | None = None) -> None:
        self.info: ModelInfo = runner.info
        self.prompts = PromptEncoder(runner)
        self._runner = runner
        self._observer: Observer = observer or Unobserved()
        self._slots = SlotTable(runner.info.slots, runner.trim)
        self._scheduler = Scheduler(
            self._slots,
            batch=runner.info.batch,
            busy_batch=min(config.busy_batch, runner.info.batch),
            limit=config.queue_limit,
            limit_person=config.queue_limit_person,
        )
        self._replies: dict[Request, Reply] = {}
        self._wakeup = threading.Condition()
        # Guarded by _wakeup: what other threads ask for, and what the engine's thread is doing right now.
        self._arrived: deque[tuple[Request, Deliver]] = deque()
        self._cancelled: deque[Request] = deque()
        self._calls: deque[Callable[[], None]] = deque()
        self._current: Batch | None = None
        self._closing = False
        self._counts: Counter[str] = Counter()
        self._thread = threading.Thread(target=self._run, name="engine", daemon=True)

    def start(self) -> None:
        """Begin to work. The thread is a daemon that is joined at exit: one that is none would hang the exit."""
        self._thread.start()
        atexit.register(self.close)

    def close(self) -> None:
        """End every reply, the thread and the model. Safe to call twice."""
        atexit.unregister(self.close)
        with self._wakeup:
            self._closing = True
            self._runner.interrupt()
            self._wakeup.notify()
        if self._thread.is_alive():
            self._thread.join(timeout=10)

    async def generate(self, request: Request) -> AsyncGenerator[Event]:
        """The reply's events, as they come: Queued any number of times, then Chunks, then one Finished.

        Leaving the iteration cancels the request within a step. Raises PromptTooLong at once, QueueFull, Preempted,
        and EngineFailed when the engine could not go on.
        """
        loop = asyncio.get_running_loop()
        events: asyncio.Queue[Event | Exception] = asyncio.Queue()

        def deliver(event: Event | Exception) -> None:
            try:
                loop.call_soon_threadsafe(events.put_nowait, event)
            except RuntimeError:  # the loop is closed: nobody listens any more
                self.cancel(request)

        self.submit(request, deliver)
        try:
            while True:
                event = await events.get()
                if isinstance(event, Exception):
                    raise event
                yield event
                if isinstance(event, Finished):
                    return
        finally:
            self.cancel(request)

    def submit(self, request: Request, deliver: Deliver) -> None:
        """From any thread: queue a request. `deliver` is called in the engine's thread. Raises PromptTooLong."""
        self._check_length(request)
        with self._wakeup:
            if self._closing:
                raise EngineFailed("The model has been shut down.")
            self._arrived.append((request, deliver))
            if request.priority is Priority.PERSON and self._current_is_background():
                self._runner.interrupt()
            self._wakeup.notify()

    def cancel(self, request: Request) -> None:
        """From any thread: end a request within a step, even while its prompt is being read. Safe when it has ended."""
        if request.finished:
            return
        with self._wakeup:
            self._cancelled.append(request)
            if self._current_reads(request):
                self._runner.interrupt()
            self._wakeup.notify()

    def forget(self, cache_key: str) -> None:
        """From any thread: drop what the caches hold of a conversation, once nothing of it runs."""

        def drop() -> None:
            for slot in self._slots:
                if slot.key == cache_key and slot.request is None:
                    self._slots.forget(slot.index)

        with self._wakeup:
            self._calls.append(drop)
            self._wakeup.notify()

    def grammar_of(self, schema: Any) -> str:
        """The grammar that holds a reply to a JSON Schema. Raises UnusableSchema and UnusableGrammar."""
        return self._runner.grammar_of(checked_schema(schema))

    def stats(self) -> Stats:
        """Counts, taken without stopping the engine: each is exact, together they may be a step apart."""
        return Stats(
            running=len(self._scheduler.running),
            waiting=self._scheduler.num_waiting,
            slots_free=self._slots.num_free,
            slots=self.info.slots,
            steps=self._counts["steps"],
            tokens_read=self._counts["read"],
            tokens_cached=self._counts["cached"],
            tokens_written=self._counts["written"],
        )

    # --- The engine's thread ----------------------------------------------------------------------------------------

    def _run(self) -> None:
        while self._take_inbox():
            try:
                self._step()
            except StepFailed as error:
                logger.error("A step failed: %s", error)
                self._fail_running(str(error))
            except Exception:
                logger.exception("The engine met an error")
                self._fail_running("The engine met an internal error; the log has the details.")
        for request in list(self._replies):
            self._fail(request, EngineFailed("The model has been shut down."))
        self._runner.close()

    def _take_inbox(self) -> bool:
        """Take what other threads asked for, waiting while there is nothing to do. False when it is time to end."""
        with self._wakeup:
            while not (self._closing or self._arrived or self._cancelled or self._calls or self._scheduler.has_work):
                self._wakeup.wait()
            arrived, cancelled, calls = list(self._arrived), list(self._cancelled), list(self._calls)
            self._arrived.clear()
            self._cancelled.clear()
            self._calls.clear()
            if self._closing:
                for request, deliver in arrived:
                    self._replies[request] = Reply(request, deliver, self._runner, self.prompts)
                return False
            self._runner.resume()
        for request, deliver in arrived:
            self._accept(request, deliver)
        for request in cancelled:
            self._end(request, FinishReason.CANCELLED)
        for call in calls:
            call()
        return True

    def _step(self) -> None:
        self._expire()
        self._admit()
        batch = self._scheduler.schedule()
        if not batch.works:
            return
        self._commit(batch, self._decode(batch))

    def _decode(self, batch: Batch) -> Outcome:
        with self._wakeup:
            if self._cancelled or self._closing:
                return Outcome(held={work.slot: work.start for work in batch.works})
            self._current = batch
        try:
            return self._runner.decode(batch)
        finally:
            with self._wakeup:
                self._current = None

    def _commit(self, batch: Batch, outcome: Outcome) -> None:
        self._counts["steps"] += 1
        num_read = sum(outcome.held[work.slot] - work.start for work in batch.works)
        self._counts["read"] += num_read
        self._tell(self._observer.stepped, len(batch.works), num_read)
        for request, sampled in self._scheduler.commit(batch, outcome):
            reason = self._replies[request].take(sampled)
            self._counts["written"] += 1
            if reason:
                self._end(request, reason)

    def _accept(self, request: Request, deliver: Deliver) -> None:
        self._replies[request] = Reply(request, deliver, self._runner, self.prompts)
        try:
            self._scheduler.add(request)
        except QueueFull as error:
            self._fail(request, error)

    def _admit(self) -> None:
        for request in self._scheduler.give_way():
            self._end(request, FinishReason.PREEMPTED)
        for request in self._scheduler.admit():
            self._counts["cached"] += request.num_cached
            assert request.slot is not None, "an admitted request has a slot"
            try:
                self._runner.open_sampler(request.slot, request.sampling, request.prompt)
            except UnusableGrammar as error:
                self._fail(request, error)
        for request, position in self._scheduler.positions().items():
            self._replies[request].tell_position(position)

    def _expire(self) -> None:
        now = time.monotonic()
        for request in [request for request in self._scheduler.running if now > request.deadline]:
            self._end(request, FinishReason.TIME)

    def _end(self, request: Request, reason: FinishReason) -> None:
        """End a request that is waiting or running; nothing happens when it has ended before."""
        reply = self._replies.pop(request, None)
        if reply is None:
            return
        if request.slot is not None:
            self._runner.close_sampler(request.slot)
        self._scheduler.remove(request)
        request.finished = reason
        self._tell(self._observer.ended, request, reason)
        if reason is FinishReason.PREEMPTED:
            reply.fail(Preempted("Somebody more urgent came."))
        else:
            reply.finish(reason)

    def _fail(self, request: Request, error: Exception) -> None:
        reply = self._replies.pop(request)
        slot = request.slot
        if slot is not None:
            self._runner.close_sampler(slot)
        self._scheduler.remove(request)
        if slot is not None:
            self._slots.forget(slot)
        request.finished = FinishReason.ERROR
        self._tell(self._observer.ended, request, "refused" if isinstance(error, QueueFull) else FinishReason.ERROR)
        reply.fail(error)

    def _fail_running(self, reason: str) -> None:
        """After a failed step nobody knows what the caches hold: end what ran, and forget it."""
        for request in list(self._scheduler.running):
            self._fail(request, EngineFailed(reason))

    def _tell(self, tell: Callable[..., None], *what: Any) -> None:
        try:
            tell(*what)
        except Exception:
            logger.exception("What the engine does cannot be measured; it is not any more")
            self._observer = Unobserved()

    def _current_reads(self, request: Request) -> bool:
        works = self._current.works if self._current else ()
        return any(work.request is request and len(work.tokens) > 1 for work in works)

    def _current_is_background(self) -> bool:
        works = self._current.works if self._current else ()
        return bool(works) and all(work.request.priority is not Priority.PERSON for work in works)

    def _check_length(self, request: Request) -> None:
        if len(request.prompt) >= self.info.context:
            # One token of room is the least with which anything can be said.
            raise PromptTooLong(len(request.prompt), self.info.context - 1)
