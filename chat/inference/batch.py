"""What the scheduler and a runner say to each other: one step's work and what came of it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from chat.inference.request import Request, SamplingParams


@dataclass(frozen=True)
class ModelInfo:
    """What a model file says about itself, and how it was loaded.

    `context` is tokens a sequence, `batch` the most tokens one step can take. `fingerprint` names the weights and the
    vocabulary: token ids are only valid where it is the same. `layout` names how a parked state is written (program,
    context, precision): such a state is only valid where both are the same. `weights` names the file that was loaded,
    which is another one than `fingerprint` where the model is tuned; `format` is the weights', as in Q8_0.
    """

    name: str
    fingerprint: str
    architecture: str
    vocabulary_size: int
    context: int
    trained_context: int
    slots: int
    batch: int
    chat_template: str
    bos: str
    eos: str
    adds_bos: bool
    can_trim: bool  # False for recurrent and hybrid models: their state cannot be cut back to an earlier token
    size_bytes: int = 0
    layout: str = ""
    weights: str = ""
    format: str = ""


@dataclass(frozen=True)
class Work:
    """Tokens of one request that this step reads into its slot, beginning at position `start`."""

    request: Request
    slot: int
    start: int
    tokens: Sequence[int]
    samples: bool  # the last token's logits are wanted: the next token is sampled


@dataclass(frozen=True)
class Batch:
    """One step's work; at most one entry a slot."""

    works: tuple[Work, ...]

    @property
    def num_tokens(self) -> int:
        """Tokens that this step reads."""
        return sum(len(work.tokens) for work in self.works)


@dataclass(frozen=True)
class Sampled:
    """A new token; its log probability and the likeliest tokens with theirs, where the request wants them."""

    token: int
    logprob: float | None = None
    top: tuple[tuple[int, float], ...] = ()


@dataclass
class Outcome:
    """What a step did. `sampled` maps slots to new tokens.

    `held` maps each slot of the batch to how many tokens its cache holds now; after an interruption that is less than
    was asked for.
    """

    sampled: dict[int, Sampled] = field(default_factory=dict)
    held: dict[int, int] = field(default_factory=dict)


class StepFailed(Exception):
    """The model could not take a batch; what its slots hold is unknown. The text says why."""


class Runner(Protocol):
    """Holds a model and its caches. Only the engine's thread calls it, but for tokenize, piece and interrupt."""

    info: ModelInfo

    def tokenize(self, text: str, *, special: bool) -> list[int]:
        """Token ids of a text; `special` lets the text of control tokens become these tokens."""

    def piece(self, token: int, *, special: bool = False) -> bytes:
        """The bytes of a token; a control token has none unless `special`."""

    def is_end(self, token: int) -> bool:
        """True for tokens that end a turn."""

    def is_control(self, token: int) -> bool:
        """True for tokens that structure the prompt and are no text."""

    def markers(self) -> dict[int, str]:
        """Tokens that structure prompts, with their text: no text of a person may turn into one of them."""

    def grammar_of(self, schema_json: str) -> str:
        """The grammar of a checked JSON Schema; safe from any thread. Raises UnusableGrammar."""

    def open_sampler(self, slot: int, params: SamplingParams, prompt: Sequence[int]) -> None:
        """Prepare a slot's sampling for the reply to this prompt. Raises UnusableGrammar."""

    def close_sampler(self, slot: int) -> None:
        """Give the slot's sampler back; nothing happens when there is none."""

    def trim(self, slot: int, keep: int) -> int:
        """Cut a slot's cache back to its first `keep` tokens; returns how many it really holds now (`keep` or 0)."""

    def state_size(self, slot: int) -> int:
        """Bytes that `park` would take for a slot; 0 for an empty one."""

    def park(self, slot: int) -> memoryview | None:
        """A copy of all that a slot's cache holds, to be given to `unpark`; None when there is none."""

    def unpark(self, slot: int, state: memoryview) -> int:
        """Put a parked state in place of a slot's cache; returns how many tokens it holds now.

        0 when the state cannot be used: then the slot is empty. The state must be whole and of the same fingerprint
        and layout.
        """

    def decode(self, batch: Batch) -> Outcome:
        """Read a step's tokens and sample. Raises StepFailed."""

    def interrupt(self) -> None:
        """From any thread: end the running decode as soon as possible; later ones end at once until `resume`."""

    def resume(self) -> None:
        """Let decodes run again."""

    def close(self) -> None:
        """Free everything."""
