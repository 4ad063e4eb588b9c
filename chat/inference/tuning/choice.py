"""Which of several measured candidates is used; plain arithmetic, so that a table can be argued about."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

MAX_KL = 0.02
# Noise of a shared machine is no reason to change anything: a candidate must be better by this share.
MARGIN = 0.10
SETTINGS_MARGIN = 0.05
# Nobody's words may come much slower than with the original, however fast prompts are read.
LEAST_WRITING = 0.8
# Candidates as close as this are equally fast; then the most faithful of them is taken.
_TIE = 0.05
# A step with a piece of somebody's prompt in it takes at most this many times a step of writers alone.
MOST_SLOWED = 8.0


@dataclass(frozen=True)
class Speeds:
    """Tokens a second: a prompt that is read, one reply that is written, eight at once; or ratios of two such."""

    reading: float
    writing: float
    writing_many: float

    def over(self, other: "Speeds") -> "Speeds":
        """These as multiples of the others."""
        return Speeds(
            self.reading / other.reading, self.writing / other.writing, self.writing_many / other.writing_many
        )

    @property
    def score(self) -> float:
        """The weighted geometric mean: reading counts half, since it is what a person waits for; the rest a quarter."""
        return math.sqrt(self.reading * math.sqrt(self.writing * self.writing_many))


@dataclass(frozen=True)
class Divergence:
    """How far a model's predictions are from the original's.

    `kl` is the mean Kullback-Leibler divergence in nats for one token, `same_top` the share of places where both hold
    the same token for the likeliest.
    """

    kl: float
    same_top: float


UNCHANGED = Divergence(0.0, 1.0)


@dataclass(frozen=True)
class Measured:
    """One line of a table. `ratio` compares with the original, measured in turn with it."""

    name: str
    speeds: Speeds
    ratio: Speeds
    divergence: Divergence = UNCHANGED
    size_bytes: int = 0


def choose_format(table: Sequence[Measured], *, max_kl: float = MAX_KL) -> Measured:
    """The best of a table whose first line is the original: that one, unless another is faithful and clearly faster."""
    original, *others = table
    suitable = [
        line
        for line in others
        if line.divergence.kl <= max_kl
        and line.ratio.writing >= LEAST_WRITING
        and line.ratio.score >= original.ratio.score * (1 + MARGIN)
    ]
    if not suitable:
        return original
    best = max(line.ratio.score for line in suitable)
    return min(
        (line for line in suitable if line.ratio.score >= best * (1 - _TIE)), key=lambda line: line.divergence.kl
    )


def choose_setting(table: Sequence[Measured]) -> Measured:
    """The fastest of a table whose first line is the default: that one, unless another is clearly faster."""
    best = max(table, key=lambda line: line.ratio.score)
    return best if best.ratio.score >= table[0].ratio.score * (1 + SETTINGS_MARGIN) else table[0]


def choose_busy_batch(alone: float, beside: dict[int, float]) -> int:
    """The largest piece of a prompt that can be read beside writers; the smallest when none keeps to MOST_SLOWED.

    alone: seconds of a step in which they only write. beside: the same with a piece of so many tokens.
    """
    fitting = [size for size, seconds in beside.items() if seconds <= alone * MOST_SLOWED]
    return max(fitting, default=min(beside))
