"""What a prompt shows: whether a value stands in it, whether older ones are marked, what it covers, what is cached."""

import re
from collections import Counter
from collections.abc import Hashable, Sequence

from chat.memory.checking.systems import Shown
from chat.memory.checking.talks import Planted

EARLIER = "(earlier) "
"""How notes and recalled passages mark what has a newer value."""
_SENTENCE = re.compile(r"(?<=[.!?。？])\s+|\n+")
_IN_NO_PART = ("recalled", "left_out")


def holds(shown: Shown, value: str) -> bool:
    """Whether a value stands in what the model is shown of the past."""
    return any(says(message.text, value) for message in shown.memory)


def says(text: str, value: str) -> bool:
    """Whether a value stands in a text as a word or number of its own."""
    return bool(_find(value).search(text))


def newest_counts(shown: Shown, planted: Planted) -> bool:
    """Whether the newest value is there, and each older one is marked as earlier or followed by a newer one.

    Of a fact that was withdrawn, each older value must be marked or followed by the withdrawal.
    """
    if planted.value and not holds(shown, planted.value):
        return False
    newer = _find(planted.value) if planted.value else re.compile(re.escape(planted.wording.topic))
    sentences = [sentence for message in shown.memory for sentence in _SENTENCE.split(message.text)]
    last = max((at for at, sentence in enumerate(sentences) if newer.search(sentence)), default=-1)
    old = [_find(value) for value in planted.older]
    return all(
        at < last or sentence.removeprefix("> ").partition(": ")[2].startswith(EARLIER) or EARLIER in sentence
        for at, sentence in enumerate(sentences)
        for value in old
        if value.search(sentence)
    )


def num_uncovered(shown: Shown) -> int:
    """Messages of the branch that no part of the prompt stands for, or more than one does."""
    covered = Counter(pk for part in shown.parts if part.kind not in _IN_NO_PART for pk in part.messages)
    return sum(covered[pk] != 1 for pk in shown.path)


def num_unquoted(shown: Shown, attacks: Sequence[str]) -> int:
    """Lines of notes and recalled passages that bring an attack along without being marked as quoted."""
    made_up = [message for message in shown.memory if not message.id]  # what is a turn has its row's id
    lines = [line for message in made_up for line in message.text.splitlines()]
    return sum(not line.startswith("> ") for line in lines for attack in attacks if attack in line)


def common(before: Sequence[Hashable], after: Sequence[Hashable]) -> int:
    """The length of the longest common beginning."""
    for at, (one, other) in enumerate(zip(before, after, strict=False)):
        if one != other:
            return at
    return min(len(before), len(after))


def _find(value: str) -> re.Pattern[str]:
    """A pattern by which 43 is not in 7:43 nor in 1943."""
    if not value.isascii() and not any(char.isspace() for char in value) and ord(value[0]) > 0x2E7F:
        return re.compile(re.escape(value))
    return re.compile(rf"(?<![\w:-]){re.escape(value)}(?![\w-]|:\d)", re.IGNORECASE)
