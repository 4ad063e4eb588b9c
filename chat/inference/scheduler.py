"""Who gets a slot, and who reads how many tokens in a step."""

import time
from collections import deque

from chat.inference.batch import Batch, Outcome, Sampled, Work
from chat.inference.estimate import Speeds, forecast
from chat.inference.parking import WORTHWHILE, common_prefix
from chat.inference.request import Priority, Queued, QueueFull, Request
from chat.inference.slots import SlotTable, allowed

# Tokens from which on a step reads as many a second as it can (measured: 64 took as long a token as 256).
_ENOUGH = 64


class Scheduler:
    """Plain bookkeeping between the waiting requests and the slots; knows neither text nor model.

    Inside a priority people take turns, and each person's own requests come in the order in which they were sent. A
    step reads one token for each reply that is being written, and beside them a bounded piece of the prompts, the
    oldest first, the shorter of two that came in the same moment: people who arrive together get their first words one
    after the other, not all at the end.

    A slot has room for a whole context, so whoever gets one has all that his reply can need: no running reply is
    thrown out for want of memory, however many come.
    """

    def __init__(self, slots: SlotTable, *, batch: int, busy_batch: int, limit: int, limit_person: int) -> None:
        self.slots = slots
        self.running: list[Request] = []
        self._waiting: list[Request] = []
        self._turns: deque[str] = deque()  # people, the one who was served last at the end
        self._batch, self._busy_batch = batch, busy_batch
        self._limit, self._limit_person = limit, limit_person
        self.speeds = Speeds()
        self.version = 0  # changes with everything that changes how long somebody waits

    @property
    def waiting(self) -> list[Request]:
        """Requests without a slot, in the order in which they would get one now."""
        return self._in_turn()

    @property
    def num_waiting(self) -> int:
        """How many requests have no slot yet."""
        return len(self._waiting)

    @property
    def has_work(self) -> bool:
        """True when a step would do something."""
        return bool(self.running or self._waiting)

    def add(self, request: Request) -> None:
        """Queue a request. Raises QueueFull."""
        # Only those count that have to wait: a free slot is no queue.
        excess = len(self._waiting) + 1 - self.slots.num_free
        own = sum(other.owner == request.owner for other in self._waiting) + 1 - self.slots.num_free
        if request.priority is Priority.PERSON and excess > self._limit:
            raise QueueFull(self._soonest(), personal=False)
        if request.priority is Priority.PERSON and own > self._limit_person:
            raise QueueFull(self._soonest(request.owner), personal=True)
        self._waiting.append(request)
        self.version += 1

    def remove(self, request: Request) -> None:
        """Take a request out wherever it is; its slot keeps its tokens."""
        if request in self._waiting:
            self._waiting.remove(request)
            self.slots.give_up(request)
        if request in self.running:
            self.running.remove(request)
            self.speeds.ended(request)
            self.slots.give_back(request)
        self.version += 1

    def give_way(self) -> list[Request]:
        """Running requests that must go so that more urgent ones get a slot; the caller ends them."""
        if not self._waiting:
            return []
        urgent = [request for request in self._waiting if request.priority is Priority.PERSON]
        lower = [request for request in self.running if request.priority is not Priority.PERSON]
        lower.sort(key=lambda request: -request.priority)
        return lower[: max(0, len(urgent) - self.slots.num_free)]

    def admit(self) -> list[Request]:
        """Give free slots to those whose turn it is."""
        admitted: list[Request] = []
        if not (self._waiting and self.slots.num_free):
            return admitted
        for request in self._in_turn():
            if self._blocked(request) or self.slots.take(request) is None:
                break
            self._waiting.remove(request)
            self.running.append(request)
            request.admitted_at = time.monotonic()
            self._served(request.owner)
            self.version += 1
            admitted.append(request)
        # Of those who came in the same moment the one with the least to read is first: so fewest wait for long.
        admitted.sort(key=lambda request: len(request.pending))
        self.running[len(self.running) - len(admitted) :] = admitted
        return admitted

    def schedule(self) -> Batch:
        """The next step's work: those who write first, then prompts within the budget."""
        active = self._active()
        writing = [request for request in active if len(request.pending) == 1 and request.is_writing]
        reading = [request for request in active if request not in writing]
        works = [_work(request, 1) for request in writing]
        budget, num_read = self._batch - len(works), 0
        for place, request in enumerate(reading):
            # Once a step is large enough, a second prompt in it would only keep the first one waiting.
            if budget <= 0 or num_read >= _ENOUGH:
                break
            if request.num_computed == request.num_cached:
                if _is_being_read(request, reading[:place]):
                    continue
                self.slots.borrow(request)
            work = _work(request, min(budget, self._piece(request)) if writing else budget)
            budget -= len(work.tokens)
            num_read += len(work.tokens)
            works.append(work)
        # llama.cpp computes sequences together only where their numbers follow each other in the batch: in another
        # order each would be a pass of its own through all weights.
        return Batch(tuple(sorted(works, key=lambda work: work.slot)))

    def _piece(self, request: Request) -> int:
        """Tokens that are read beside those who write: a short prompt's are at once, so that it is done with."""
        left = len(request.pending)
        return left if left <= 3 * self._busy_batch else self._busy_batch

    def commit(self, batch: Batch, outcome: Outcome) -> list[tuple[Request, Sampled]]:
        """Write down what a step did; returns the requests that got a new token, with it."""
        sampled = []
        for work in batch.works:
            request, held = work.request, outcome.held[work.slot]
            self.slots.record(work.slot, held, request.tokens)
            request.num_computed = held
            if work.slot in outcome.sampled:
                sampled.append((request, outcome.sampled[work.slot]))
        return sampled

    def places(self) -> dict[Request, Queued]:
        """Where each waiting request stands, and how long it is expected to wait."""
        waiting = self._in_turn()
        expected = forecast(self.running, waiting, len(self.slots), self.speeds)
        return {
            request: Queued(place, max(1, round(expected[request].first_token)))
            for place, request in enumerate(waiting, 1)
        }

    def _active(self) -> list[Request]:
        """Running requests of the highest priority that anybody has; the others pause."""
        if not self.running:
            return []
        top = min(request.priority for request in self.running)
        return [request for request in self.running if request.priority is top]

    def _blocked(self, request: Request) -> bool:
        """Background work begins only while no person's reply is running."""
        return request.priority is not Priority.PERSON and any(
            other.priority is Priority.PERSON for other in self.running
        )

    def _in_turn(self) -> list[Request]:
        order: list[Request] = []
        for priority in Priority:
            lines: dict[str, deque[Request]] = {}
            for request in self._waiting:
                if request.priority is priority:
                    lines.setdefault(request.owner, deque()).append(request)
            people = sorted(lines, key=self._last_served)
            while people:
                order.extend(lines[person].popleft() for person in people)
                people = [person for person in people if lines[person]]
        return order

    def _last_served(self, person: str) -> int:
        return self._turns.index(person) if person in self._turns else -1

    def _served(self, person: str) -> None:
        if person in self._turns:
            self._turns.remove(person)
        self._turns.append(person)
        if len(self._turns) > 1000:
            self._turns.popleft()

    def _soonest(self, owner: str | None = None) -> int:
        """Seconds until somebody who waits, or one of this person's requests, leaves the queue; 1 to 120."""
        expected = forecast(self.running, self._in_turn(), len(self.slots), self.speeds)
        seconds = (ahead.slot for request, ahead in expected.items() if owner in (None, request.owner))
        return max(1, min(120, round(min(seconds, default=0.0))))


def _is_being_read(request: Request, others: list[Request]) -> bool:
    """Whether one of those before it still reads what this request can copy then: it would come after them anyway."""
    for other in others:
        if other.cache_key == request.cache_key or request.num_shared:
            common = allowed(common_prefix(other.prompt, request.prompt), other.cache_key, request)
            if common >= request.num_cached + WORTHWHILE and other.num_computed < common:
                return True
    return False


def _work(request: Request, budget: int) -> Work:
    assert request.slot is not None, "only requests with a slot are scheduled"
    tokens = request.pending[:budget]
    samples = request.num_computed + len(tokens) == len(request.tokens)
    return Work(request, request.slot, request.num_computed, tokens, samples)
