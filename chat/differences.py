"""What changed between two texts, word by word."""

import re
from dataclasses import dataclass
from difflib import SequenceMatcher

_WORDS = re.compile(r"\s+|[^\s]+")
# The comparison is quadratic at worst: beyond this many words the texts are only shown one after the other.
_MOST = 3000


@dataclass(frozen=True)
class Stretch:
    """Words that stayed (`same`), came (`new`) or went (`gone`)."""

    kind: str
    text: str


def difference(before: str, after: str) -> list[Stretch]:
    """The stretches of both texts in reading order; what went stands before what came in its place."""
    old, new = _WORDS.findall(before), _WORDS.findall(after)
    if max(len(old), len(new)) > _MOST:
        return [Stretch("gone", before), Stretch("new", after)]
    stretches = []
    for kind, i, j, k, m in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            stretches.append(Stretch("same", "".join(old[i:j])))
            continue
        stretches += [Stretch("gone", "".join(old[i:j]))] if j > i else []
        stretches += [Stretch("new", "".join(new[k:m]))] if m > k else []
    return stretches
