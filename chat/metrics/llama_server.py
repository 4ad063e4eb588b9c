"""The same figures under the names of llama.cpp's llama-server, so that dashboards made for it work here."""

import math
from collections import Counter, deque
from collections.abc import Iterable
from typing import TYPE_CHECKING

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

if TYPE_CHECKING:
    from chat.inference import Request, Stats

# llama-server's throughputs are averages since it was last asked, which two readers would spoil for each other.
LATEST = 32


class LlamaServer:
    """Sums over requests that have ended; written by the engine's thread alone."""

    def __init__(self) -> None:
        """Nothing was read or written yet."""
        self._sums: Counter[str] = Counter()
        self._seconds = {"prompt": 0.0, "predicted": 0.0}
        self._most_tokens = 0
        self._prompts: deque[tuple[int, float]] = deque(maxlen=LATEST)
        self._replies: deque[tuple[int, float]] = deque(maxlen=LATEST)

    def stepped(self, num_sequences: int, num_tokens: int) -> None:  # noqa: ARG002
        """One more decode."""
        self._sums["decodes"] += 1
        self._sums["busy"] += num_sequences

    def ended(self, request: "Request", now: float) -> None:
        """A request that had a slot has ended; `now` is on the monotonic clock."""
        began = now if math.isnan(request.first_token_at) else request.first_token_at
        num_read = max(0, min(request.num_computed, len(request.prompt)) - request.num_cached)
        reading, writing = began - request.admitted_at, now - began
        self._sums["prompt"] += num_read
        self._sums["predicted"] += request.num_generated
        self._seconds["prompt"] += reading
        self._seconds["predicted"] += writing
        self._prompts.append((num_read, reading))
        self._replies.append((request.num_generated, writing))
        self._most_tokens = max(self._most_tokens, len(request.tokens))

    def collect(self, stats: "Stats | None") -> Iterable[Metric]:
        """llama-server's metrics, in its order."""
        sums, seconds = self._sums, self._seconds
        yield _counter("prompt_tokens", "Number of prompt tokens processed.", sums["prompt"])
        yield _counter("prompt_seconds", "Prompt process time.", seconds["prompt"])
        yield _counter("tokens_predicted", "Number of generation tokens processed.", sums["predicted"])
        yield _counter("tokens_predicted_seconds", "Predict process time.", seconds["predicted"])
        yield _counter("n_decode", "Number of llama_decode() calls.", sums["decodes"])
        yield _gauge("n_tokens_max", "Largest observed number of tokens of a request.", self._most_tokens)
        busy = sums["busy"] / sums["decodes"] if sums["decodes"] else 0
        yield _gauge("n_busy_slots_per_decode", "Average number of busy slots per llama_decode() call.", busy)
        yield _gauge("prompt_tokens_seconds", "Latest prompt throughput in tokens/s.", _rate(self._prompts))
        yield _gauge("predicted_tokens_seconds", "Latest generation throughput in tokens/s.", _rate(self._replies))
        yield _gauge("requests_processing", "Number of requests processing.", stats.running if stats else 0)
        yield _gauge("requests_deferred", "Number of requests deferred.", stats.waiting if stats else 0)


def _counter(name: str, text: str, value: float) -> CounterMetricFamily:
    return CounterMetricFamily(f"llamacpp:{name}", text, value=value)


def _gauge(name: str, text: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(f"llamacpp:{name}", text, value=value)


def _rate(latest: Iterable[tuple[int, float]]) -> float:
    pairs = tuple(latest)  # at once: the engine goes on
    seconds = sum(seconds for _, seconds in pairs)
    return sum(count for count, _ in pairs) / seconds if seconds else 0.0
