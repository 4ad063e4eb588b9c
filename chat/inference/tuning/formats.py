"""The formats in which weights can be written again, and how large a file each makes."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Format:
    """`number` is llama.cpp's LLAMA_FTYPE; `bits` the most a weight takes, whatever its matrix falls back to."""

    number: int
    bits: float


# In the order in which they are worth trying. K formats need rows of a multiple of 256 numbers and fall back to a
# larger format elsewhere. IQ4_NL takes ten times as long to write as the others and is tried only where it is named.
FORMATS = {
    "Q8_0": Format(7, 8.5),
    "Q6_K": Format(18, 8.5),
    "F16": Format(1, 16),
    "BF16": Format(32, 16),
    "Q5_K_M": Format(17, 8.5),
    "Q4_K_M": Format(15, 8.5),
    "Q4_0": Format(2, 6.6),
    "IQ4_NL": Format(25, 6.6),
}
DEFAULT_FORMATS = tuple(name for name in FORMATS if name != "IQ4_NL")

# Vocabulary, metadata and the small matrices that stay 32 bits wide.
_BESIDE_WEIGHTS = 16 * 1024 * 1024


def bytes_needed(name: str, num_weights: int) -> int:
    """The most bytes that a model of so many weights takes in this format."""
    return int(num_weights * FORMATS[name].bits / 8) + _BESIDE_WEIGHTS
