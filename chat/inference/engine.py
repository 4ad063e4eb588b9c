"""The engine: one thread that schedules, decodes and hands out text, for any number of conversations at once."""

import asyncio
import atexit
import logging
import threading
import time
from collections import Counter
from collections.abc import AsyncGenerator, Callable
from typing import Any

from chat.inference.batch import Batch, ModelInfo, Outcome, Runner, StepFailed
from chat.inference.config import EngineConfig, choose_parking
from chat.inference.inbox import Deliver, Inbox
from chat.inference.mail import Mail
from chat.inference.observer import Observer, Stats, Unobserved
from chat.inference.parking import Parking
from chat.inference.prompt import PromptEncoder
from chat.inference.reply import Reply
from chat.inference.request import (
    EngineFailed,
    Event,
    Finished,
    FinishReason,
    Preempted,
    PromptTooLong,
    QueueFull,
    Request,
    UnusableGrammar,
)
from chat.inference.scheduler import Scheduler
from chat.inference.schema import checked_schema
from chat.inference.shelf import shelf_for
from chat.inference.slots import SlotTable

logger = logging.getLogger(__name__)

# Seconds after which those who wait are told anew how long it takes.
_TELL_EVERY = 5.0
# Seconds for which words are kept to go out together, before a step that is as short: fifty times a second is as good
# as a hundred for whoever reads, and costs half.
_TOGETHER = 0.02


class Engine:
    """Owns a runner. `generate` may be called from any event loop; everything else happens in the engine's thread."""

    def __init__(self, runner: Runner, config: EngineConfig, observer: Observer | None = None) -> None:
        self.info: ModelInfo = runner.info
        self.prompts = PromptEncoder(runner)
        self._runner = runner
        self._observer: Observer = observer or Unobserved()
        self._shelf = shelf_for(config, runner.info)
        self._parking = Parking(runner, choose_parking(config), self._shelf)
        self._slots = SlotTable(runner.info.slots, runner.trim, self._parking)
        self._scheduler = Scheduler(
            self._slots,
            batch=runner.info.batch,
            busy_batch=min(config.busy_batch, runner.info.batch),
            limit=config.queue_limit,
            limit_person=config.queue_limit_person,
        )
        self._replies: dict[Request, Reply] = {}
        self._inbox = Inbox(runner)
        self._mail = Mail()
        self._counts: Counter[str] = Counter()
        self._told = (0, 0.0)  # which state of the queue was told to those who wait, and when
        self._thread = threading.Thread(target=self._run, name="engine", daemon=True)

    def start(self) -> None:
        """Begin to work. The thread is a daemon that is joined at exit: one that is none would hang the exit."""
        self._thread.start()
        atexit.register(self.close)

    def close(self) -> None:
        """End every reply, the thread and the model. Safe to call twice."""
        atexit.unregister(self.close)
        self._inbox.close()
        if self._thread.is_alive():
            self._thread.join(timeout=20)

    async def generate(self, request: Request) -> AsyncGenerator[Event]:
        """The reply's events, as they come: Queued any number of times, then Chunks, then one Finished.

        Leaving the iteration cancels the request within a step. Raises PromptTooLong at once, QueueFull, Preempted,
        and EngineFailed when the engine could not go on.
        """
        events: asyncio.Queue[Event | Exception] = asyncio.Queue()
        self.listen(request, events.put_nowait)
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

    def listen(self, request: Request, put: Deliver) -> None:
        """Queue a request; `put` is called with its events in the running event loop. Raises PromptTooLong.

        The last one is a Finished or an exception. Whoever does not want them any more calls `cancel`.
        """
        self.submit(request, self._mail.box(put, lambda: self.cancel(request)))

    def submit(self, request: Request, deliver: Deliver) -> None:
        """From any thread: queue a request. `deliver` is called in the engine's thread. Raises PromptTooLong."""
        if len(request.prompt) >= self.info.context:
            # One token of room is the least with which anything can be said.
            raise PromptTooLong(len(request.prompt), self.info.context - 1)
        if not (self._shelf and self._shelf.fetch(request, lambda: self._add(request, deliver))):
            self._inbox.add(request, deliver)

    def cancel(self, request: Request) -> None:
        """From any thread: end a request within a step, even while its prompt is being read. Safe when it has ended."""
        if not request.finished:
            self._inbox.cancel(request)

    def forget(self, cache_key: str) -> None:
        """From any thread: drop what the caches hold of a conversation; what still runs of it leaves nothing behind.

        What is on disk of it is gone when this returns, the rest within a step.
        """
        if self._shelf:
            self._shelf.forget(cache_key)
        self._inbox.call(lambda: self._drop(cache_key))

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
            parked=self._parking.num_parked,
            parked_bytes=self._parking.num_bytes,
            shelved=self._shelf.num_parked if self._shelf else 0,
            shelved_bytes=self._shelf.num_bytes if self._shelf else 0,
            restored=self._parking.num_restored,
            tokens_restored=self._counts["restored"],
        )

    def _add(self, request: Request, deliver: Deliver) -> None:
        """In the shelf's thread: queue a request for which something was fetched."""
        try:
            self._inbox.add(request, deliver)
        except EngineFailed as error:
            deliver(error)
            self._mail.flush()

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
            if not self._scheduler.has_work:
                self._mail.flush()
        if self._shelf:
            self._slots.park_all()
        for request in list(self._replies):
            self._fail(request, EngineFailed("The model has been shut down."))
        self._mail.flush()
        self._parking.close()
        self._runner.close()

    def _take_inbox(self) -> bool:
        """Do what other threads asked for, waiting while there is nothing to do. False when it is time to end."""
        asked = self._inbox.take(waits=not self._scheduler.has_work)
        for request, deliver in asked.arrived:
            self._accept(request, deliver)
        for request in asked.cancelled:
            self._end(request, FinishReason.CANCELLED)
        for call in asked.calls:
            call()
        return not asked.is_closing

    def _step(self) -> None:
        self._expire()
        self._admit()
        batch = self._scheduler.schedule()
        only_writes = batch.num_tokens == len(batch.works) > 0
        self._mail.flush(within=_TOGETHER if only_writes else 0.0)
        if not batch.works:
            return
        self._commit(batch, self._decode(batch))

    def _decode(self, batch: Batch) -> Outcome:
        with self._inbox.working_on(batch) as is_wanted:
            if not is_wanted:
                return Outcome(held={work.slot: work.start for work in batch.works})
            started = time.monotonic()
            outcome = self._runner.decode(batch)
        if len(outcome.sampled) == sum(work.samples for work in batch.works):  # it was not interrupted
            self._scheduler.speeds.stepped(batch, time.monotonic() - started)
        return outcome

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
        if request.is_cancelled:  # before it came here
            self._end(request, FinishReason.CANCELLED)

    def _drop(self, cache_key: str) -> None:
        """Forget a conversation: its copies, its free slots, and those of its requests when they end."""
        self._parking.forget(cache_key)
        for request in self._replies:
            if request.cache_key == cache_key:
                request.is_forgotten = True
        for slot in self._slots:
            if slot.key == cache_key and slot.request is None:
                self._slots.forget(slot.index)

    def _admit(self) -> None:
        for request in self._scheduler.give_way():
            self._end(request, FinishReason.PREEMPTED)
        for request in self._scheduler.admit():
            assert request.slot is not None, "an admitted request has a slot"
            try:
                self._runner.open_sampler(request.slot, request.sampling, request.prompt)
            except UnusableGrammar as error:
                self._fail(request, error)
        self._tell_places()

    def _tell_places(self) -> None:
        """Tell those who wait where they stand, when that has changed, and anew how long it takes now and then."""
        version, now = self._scheduler.version, time.monotonic()
        if self._scheduler.num_waiting and (version != self._told[0] or now > self._told[1] + _TELL_EVERY):
            self._told = version, now
            for request, place in self._scheduler.places().items():
                self._replies[request].tell_place(place)

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
        self._leave(request)
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
        self._leave(request)
        if slot is not None:
            self._slots.forget(slot)
        request.finished = FinishReason.ERROR
        self._tell(self._observer.ended, request, "refused" if isinstance(error, QueueFull) else FinishReason.ERROR)
        reply.fail(error)

    def _leave(self, request: Request) -> None:
        self._scheduler.remove(request)
        self._counts["cached"] += request.num_cached
        self._counts["restored"] += request.num_restored

    def _fail_running(self, reason: str) -> None:
        # After a failed step nobody knows what the caches hold.
        for request in list(self._scheduler.running):
            self._fail(request, EngineFailed(reason))

    def _tell(self, tell: Callable[..., None], *what: Any) -> None:
        try:
            tell(*what)
        except Exception:
            logger.exception("What the engine does cannot be measured; it is not any more")
            self._observer = Unobserved()
