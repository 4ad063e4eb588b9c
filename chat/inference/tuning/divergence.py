"""How much a rewritten model's predictions differ from the original's."""

import numpy as np
from numpy.typing import NDArray

from chat.inference.tuning.choice import Divergence

Logits = NDArray[np.float32]

_ROWS = 32  # at a time: a large vocabulary in 64-bit numbers would take gigabytes


def compare(original: Logits, other: Logits) -> Divergence:
    """The mean of KL(original, other) over the rows, and how often their likeliest tokens are the same.

    Both have one row a place in the text and one column a token of the vocabulary. Raises ValueError unless they have
    the same shape and are finite: a model that says NaN is no candidate.
    """
    if original.shape != other.shape or not original.size:
        raise ValueError(f"Logits of shape {original.shape} and {other.shape} cannot be compared.")
    if not (np.isfinite(original).all() and np.isfinite(other).all()):
        raise ValueError("The model's predictions are no numbers.")
    total, same = 0.0, 0
    for at in range(0, len(original), _ROWS):
        p, q = _log_softmax(original[at : at + _ROWS]), _log_softmax(other[at : at + _ROWS])
        total += float((np.exp(p) * (p - q)).sum())
        same += int((p.argmax(axis=1) == q.argmax(axis=1)).sum())
    return Divergence(kl=max(0.0, total / len(original)), same_top=same / len(original))


def _log_softmax(logits: Logits) -> NDArray[np.float64]:
    shifted = logits.astype(np.float64) - logits.max(axis=1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True)))
