"""A reply while the engine writes it: from tokens to events for whoever asked for it."""

import math
import time
from collections.abc import Callable

from chat.inference.batch import Runner, Sampled
from chat.inference.prompt import PromptEncoder
from chat.inference.request import Chunk, Event, Finished, FinishReason, Queued, Request, TokenLogprob, Usage


class Reply:
    """Follows one request: assembles its text, says when it ends, and counts what it cost."""

    def __init__(
        self,
        request: Request,
        deliver: Callable[[Event | Exception], None],
        runner: Runner,
        prompts: PromptEncoder,
    ) -> None:
        self._request = request
        self._deliver = deliver
        self._runner = runner
        self._shown_specially = prompts.reasoning_tokens
        self._turn_starts = prompts.turn_start_tokens
        self._text = prompts.assembler(request)
        self._room = runner.info.context - len(request.prompt)
        self._place: Queued | None = None
        self._logprobs: list[TokenLogprob] = []
        self._num_reasoning = 0
        self._is_plain = True  # no control token among the reply's tokens

    def tell_place(self, place: Queued) -> None:
        """Say where in the queue it stands and how long that takes, if that has changed."""
        if place != self._place:
            self._place = place
            self._deliver(place)

    def take(self, sampled: Sampled) -> FinishReason | None:
        """Take the token that was sampled last; returns why the reply ends with it, if it does."""
        request, token = self._request, sampled.token
        if math.isnan(request.first_token_at):
            request.first_token_at = time.monotonic()
        if self._runner.is_end(token) or token in self._turn_starts:
            return FinishReason.STOP
        request.tokens.append(token)
        self._note(sampled)
        marker = token in self._shown_specially
        self._is_plain = self._is_plain and not self._runner.is_control(token)
        piece = self._text.push(self._runner.piece(token, special=marker))
        self._num_reasoning += bool(piece.reasoning)
        self._send(piece.text, piece.reasoning)
        if piece.ended:
            return FinishReason.STOP
        if request.num_generated >= min(request.sampling.max_tokens, self._room):
            return FinishReason.LENGTH
        return None

    def finish(self, reason: FinishReason) -> None:
        """Send what was held back, and the figures."""
        rest = self._text.finish()
        self._send(rest.text, rest.reasoning)
        exact = self._text.is_exact and self._is_plain
        token_ids = tuple(self._request.tokens[len(self._request.prompt) :]) if exact else ()
        self._deliver(Finished(reason, self._usage(reason), token_ids))

    def fail(self, error: Exception) -> None:
        """Tell that it cannot go on."""
        self._deliver(error)

    def _send(self, text: str, reasoning: str) -> None:
        if text or reasoning or self._logprobs:
            logprobs, self._logprobs = tuple(self._logprobs), []
            self._deliver(Chunk(text, reasoning, logprobs))

    def _note(self, sampled: Sampled) -> None:
        if sampled.logprob is not None:
            piece = self._runner.piece
            top = tuple((piece(token, special=True), logprob) for token, logprob in sampled.top)
            self._logprobs.append(TokenLogprob(piece(sampled.token, special=True), sampled.logprob, top))

    def _usage(self, reason: FinishReason) -> Usage:
        request, now = self._request, time.monotonic()
        admitted = now if math.isnan(request.admitted_at) else request.admitted_at
        first = now if math.isnan(request.first_token_at) else request.first_token_at
        num_read = max(0, min(request.num_computed, len(request.prompt)) - request.num_cached)
        return Usage(
            prompt_tokens=len(request.prompt),
            cached_tokens=request.num_cached,
            restored_tokens=request.num_restored,
            read_tokens=num_read,
            completion_tokens=request.num_generated,
            reasoning_tokens=self._num_reasoning,
            queued_ms=_milliseconds(admitted - request.submitted_at),
            first_token_ms=None if math.isnan(request.first_token_at) else _milliseconds(first - request.submitted_at),
            total_ms=_milliseconds(now - request.submitted_at),
            read_per_second=_rate(num_read, first - admitted),
            # The first token came at the beginning of that time, so it does not count.
            written_per_second=_rate(request.num_generated - 1, now - first),
            finish_reason=reason.value,
        )


def _milliseconds(seconds: float) -> int:
    return round(seconds * 1000)


def _rate(count: int, seconds: float) -> float | None:
    return round(count / seconds, 1) if count > 0 and seconds > 0 else None
