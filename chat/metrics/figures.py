"""What is counted and timed while the site works, and how it stands when somebody looks."""

import math
import time
from collections.abc import Iterable
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Histogram, disable_created_metrics, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.process_collector import ProcessCollector

from chat.limits import seats
from chat.metrics.llama_server import LlamaServer

if TYPE_CHECKING:
    from chat.inference import Request, Stats

# Times of creation would double the series and tell nothing that the process's start does not.
disable_created_metrics()  # type: ignore[no-untyped-call]

_SECONDS = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600)
_SECONDS_A_TOKEN = (0.005, 0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.25, 0.5, 1, 2.5)
_TOKENS_A_STEP = (1, 2, 4, 8, 16, 32, 48, 64, 128, 256, 512, 1024)
_SEQUENCES_A_STEP = (1, 2, 3, 4, 6, 8, 12, 16, 32, 64)


class Figures:
    """Observes the engine (chat.inference.observer) and writes what Prometheus reads.

    A label is a priority (person, prewarm, summary), a result or an author, never anything of a person.
    """

    def __init__(self) -> None:
        """Everything begins at zero."""
        self.registry = CollectorRegistry()
        self._llama_server = LlamaServer()
        self._count()
        self._time()
        self.registry.register(self)
        ProcessCollector(registry=self.registry)

    def stepped(self, num_sequences: int, num_tokens: int) -> None:
        """The engine has made a step."""
        self._step_sequences.observe(num_sequences)
        self._step_tokens.observe(num_tokens)
        self._llama_server.stepped(num_sequences, num_tokens)

    def ended(self, request: "Request", result: str) -> None:
        """A request of the engine has ended."""
        priority, now = request.priority.name.lower(), time.monotonic()
        self._requests.labels(priority, str(result)).inc()
        self._duration.labels(priority).observe(now - request.submitted_at)
        if math.isnan(request.admitted_at):
            return  # It never had a slot.
        self._prompt_tokens.inc(len(request.prompt))
        self._cached_tokens.inc(request.num_cached)
        self._generated_tokens.inc(request.num_generated)
        self._llama_server.ended(request, now)
        if math.isnan(request.first_token_at):
            return
        self._first_token.labels(priority).observe(request.first_token_at - request.submitted_at)
        if request.num_generated > 1:
            self._token.labels(priority).observe((now - request.first_token_at) / (request.num_generated - 1))

    def collect(self) -> Iterable[Metric]:
        """How it stands now. What the engine would tell is left out while there is none."""
        stats = _stats()
        yield _gauge("chat_model_ready", "1 when replies can be written.", stats is not None)
        yield _gauge("chat_sockets_open", "Open sockets of pages.", seats.num_taken)
        if stats:
            yield _gauge("chat_requests_running", "Requests that have a slot.", stats.running)
            yield _gauge("chat_requests_waiting", "Requests that wait for a slot.", stats.waiting)
            yield _gauge("chat_slots", "Conversations that can be worked on at a time.", stats.slots)
            yield _gauge("chat_slots_free", "Slots that no request holds.", stats.slots_free)
            yield from _parked(stats)
        yield from self._llama_server.collect(stats)

    def exposition(self) -> bytes:
        """All of it in Prometheus' text format."""
        return generate_latest(self.registry)

    def _count(self) -> None:
        here = self.registry
        self._requests = Counter(
            "chat_requests_total", "Requests that have ended, by result.", ["priority", "result"], registry=here
        )
        self._prompt_tokens = Counter("chat_prompt_tokens_total", "Tokens of prompts, cached or not.", registry=here)
        self._cached_tokens = Counter(
            "chat_cached_prompt_tokens_total", "Tokens of prompts that were in the cache already.", registry=here
        )
        self._generated_tokens = Counter("chat_generated_tokens_total", "Tokens of replies.", registry=here)
        self.summaries = Counter("chat_summaries_total", "Summaries that were stored.", ["author"], registry=here)

    def _time(self) -> None:
        def histogram(name: str, text: str, buckets: tuple[float, ...], labels: tuple[str, ...] = ()) -> Histogram:
            return Histogram(name, text, labels, buckets=buckets, registry=self.registry)

        by = ("priority",)
        self._first_token = histogram(
            "chat_first_token_seconds", "From the request to the reply's first token, waiting included.", _SECONDS, by
        )
        self._token = histogram(
            "chat_output_token_seconds", "Time of a token after the first, averaged over a reply.", _SECONDS_A_TOKEN, by
        )
        self._duration = histogram("chat_request_seconds", "From the request to its end.", _SECONDS, by)
        self._step_tokens = histogram("chat_engine_step_tokens", "Tokens that a step read.", _TOKENS_A_STEP)
        self._step_sequences = histogram("chat_engine_step_sequences", "Requests in a step.", _SEQUENCES_A_STEP)


# Those of this process.
figures = Figures()


def _stats() -> "Stats | None":
    from chat import runtime

    try:
        return runtime.chat_model().engine.stats()
    except runtime.ModelUnavailable:
        return None


def _parked(stats: "Stats") -> Iterable[Metric]:
    num = GaugeMetricFamily("chat_parked", "Conversations that lost their slot and are kept.", labels=["where"])
    size = GaugeMetricFamily("chat_parked_bytes", "What these take.", labels=["where"])
    for where, count, taken in (
        ("memory", stats.parked, stats.parked_bytes),
        ("disk", stats.shelved, stats.shelved_bytes),
    ):
        num.add_metric([where], count)
        size.add_metric([where], taken)
    yield from (num, size)
    yield CounterMetricFamily("chat_restored", "Kept conversations that came back.", value=stats.restored)
    yield CounterMetricFamily(
        "chat_restored_tokens", "Tokens that need not be read again for it.", value=stats.tokens_restored
    )


def _gauge(name: str, text: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(name, text, value=float(value))
