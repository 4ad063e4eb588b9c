"""A request for a reply, what it may ask for, and the pieces in which the reply comes back."""

import itertools
import math
import time
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from chat.inference.parking import Parked


class FinishReason(StrEnum):
    """Why a reply ended."""

    STOP = "stop"  # the model was done, or a stop string came
    LENGTH = "length"  # the token cap, or the end of the context
    TIME = "time"  # the time cap
    CANCELLED = "cancelled"
    PREEMPTED = "preempted"  # gave its place to somebody more urgent; ask again later
    ERROR = "error"


class Priority(IntEnum):
    """Who goes first; a lower one gives way within a step."""

    PERSON = 0
    PREWARM = 1
    SUMMARY = 2


class PromptTooLong(Exception):
    """A prompt that leaves no room for a reply; both numbers are tokens."""

    def __init__(self, needed: int, available: int) -> None:
        super().__init__(f"The prompt has {needed} tokens, and only {available} fit.")
        self.needed, self.available = needed, available


class QueueFull(Exception):
    """Too many requests wait; `personal` says that this person's own share is what is full."""

    def __init__(self, retry_after: int, *, personal: bool) -> None:
        whose = "You have" if personal else "The model has"
        super().__init__(f"{whose} too many replies waiting. Try again in about {retry_after} seconds.")
        self.retry_after, self.personal = retry_after, personal


class EngineFailed(Exception):
    """The engine could not go on with a request; the text is for people."""


class UnusableGrammar(EngineFailed):
    """The grammar of a request cannot be used; the text says why."""


class Preempted(EngineFailed):
    """The request gave its place to a more urgent one; ask again later."""


@dataclass(frozen=True)
class SamplingParams:
    """How tokens are chosen and when to end. Raises ValueError for values that mean nothing.

    temperature 0 is greedy. `max_tokens` and `max_seconds` are caps; the context caps the reply as well.
    Penalties look at the last `penalty_window` tokens of the reply.
    """

    temperature: float = 0.7
    top_k: int = 40
    top_p: float = 0.95
    min_p: float = 0.05
    repeat_penalty: float = 1.1
    frequency_penalty: float = 0.0
    presence_penalty: float = 0.0
    penalty_window: int = 64
    seed: int | None = None
    max_tokens: int = 1024
    max_seconds: float = 600.0
    stop: tuple[str, ...] = ()
    logit_bias: tuple[tuple[int, float], ...] = ()  # token id, and what is added to its logit
    logprobs: int | None = None  # so many alternatives with each token; None: not even the token's own
    grammar: str = ""  # made by the engine from a schema; never what a client wrote

    def __post_init__(self) -> None:
        _between("temperature", self.temperature, 0, 2)
        _between("top_k", self.top_k, 0, 1_000_000)
        _between("top_p", self.top_p, 0, 1)
        _between("min_p", self.min_p, 0, 1)
        _between("repeat_penalty", self.repeat_penalty, 0.1, 10)
        _between("frequency_penalty", self.frequency_penalty, -2, 2)
        _between("presence_penalty", self.presence_penalty, -2, 2)
        _between("penalty_window", self.penalty_window, 0, 4096)
        _between("max_tokens", self.max_tokens, 1, 10_000_000)
        _between("max_seconds", self.max_seconds, 0.001, 1_000_000)
        if self.seed is not None:
            _between("seed", self.seed, 0, 2**32 - 2)
        if self.logprobs is not None:
            _between("logprobs", self.logprobs, 0, 20)
        for token, bias in self.logit_bias:
            _between("A token of logit_bias", token, 0, 2**31 - 1)
            _between("A bias of logit_bias", bias, -100, 100)
        if len(self.stop) > 16 or any(not 0 < len(text) <= 256 for text in self.stop):
            raise ValueError("stop takes up to 16 texts of 1 to 256 characters.")


_ids = itertools.count(1)


@dataclass(eq=False)
class Request:
    """One reply to be written, and how far it has come. Only the engine's thread changes it after it was submitted.

    `prompt` is token ids. `num_shared` of them, at the beginning, are the same for everybody and may be reused from
    anybody's cache; the rest only from `cache_key`, which names the conversation, or without `one_conversation` whoever
    holds several of them. `owner` is the person, for fairness.
    """

    prompt: list[int]
    sampling: SamplingParams
    owner: str = ""
    cache_key: str = ""
    one_conversation: bool = True
    num_shared: int = 0
    priority: Priority = Priority.PERSON
    opens_reasoning: bool = False
    id: int = field(default_factory=lambda: next(_ids))

    tokens: list[int] = field(init=False)  # prompt and reply
    num_computed: int = 0  # how many of them are in the cache
    num_cached: int = 0  # how many of the prompt were there already
    num_restored: int = 0  # how many of those came back from parking
    slot: int | None = None
    fetched: "Parked | None" = None  # what was on disk of its conversation
    submitted_at: float = field(default_factory=time.monotonic)
    admitted_at: float = math.nan
    first_token_at: float = math.nan
    finished: FinishReason | None = None
    is_cancelled: bool = False  # set from any thread
    is_forgotten: bool = False  # its conversation was deleted: nothing of it may stay in a cache when it ends

    def __post_init__(self) -> None:
        if not self.prompt:
            raise ValueError("A prompt needs at least one token.")
        self.tokens = list(self.prompt)

    @property
    def num_generated(self) -> int:
        """Tokens of the reply so far, the end token not counted."""
        return len(self.tokens) - len(self.prompt)

    @property
    def pending(self) -> list[int]:
        """Tokens that are not in the cache yet: the rest of the prompt, or the one sampled last."""
        return self.tokens[self.num_computed :]

    @property
    def is_writing(self) -> bool:
        """True when the prompt has been read and the reply has begun."""
        return self.num_generated > 0

    @property
    def deadline(self) -> float:
        """When the time cap ends it, on the monotonic clock; it begins when the request gets its place."""
        return self.admitted_at + self.sampling.max_seconds


@dataclass(frozen=True)
class Usage:
    """What a reply cost: tokens, milliseconds, and tokens a second. `docs/protocol.md` describes the fields."""

    prompt_tokens: int
    cached_tokens: int
    restored_tokens: int
    read_tokens: int  # of the prompt, those that had to be read; fewer than all others when it ended before
    completion_tokens: int
    reasoning_tokens: int
    queued_ms: int
    first_token_ms: int | None  # None when there was none
    total_ms: int
    read_per_second: float | None
    written_per_second: float | None
    finish_reason: str


@dataclass(frozen=True)
class Queued:
    """It waits; position 1 is next. `seconds` is about how long until its first token, at least 1."""

    position: int
    seconds: int


@dataclass(frozen=True)
class TokenLogprob:
    """One token of a reply: its bytes, the natural logarithm of its probability, and the likeliest alternatives."""

    piece: bytes
    logprob: float
    top: tuple[tuple[bytes, float], ...] = ()


@dataclass(frozen=True)
class Chunk:
    """New text of a reply; either part may be empty. `logprobs` has the tokens that came since the last chunk."""

    text: str
    reasoning: str = ""
    logprobs: tuple[TokenLogprob, ...] = ()


@dataclass(frozen=True)
class Finished:
    """The last event of a reply. `token_ids` is empty when the text is not exactly what these tokens say."""

    reason: FinishReason
    usage: Usage
    token_ids: tuple[int, ...] = ()


Event = Queued | Chunk | Finished


def _between(name: str, value: float, least: float, most: float) -> None:
    if not (math.isfinite(value) and least <= value <= most):
        raise ValueError(f"{name} must be from {least} to {most}, not {value}.")


GREEDY = SamplingParams(temperature=0, repeat_penalty=1.0)
