"""How well the windows of old messages match a question: by rare words, by meaning, by the kind of what they say."""

import math
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

from chat.memory.marks import FACT, OWN, asks_about_himself, asks_for

Place = tuple[int, int]
"""A message's id and the number of a window of its text."""
Scores = Mapping[Place, float]

# Measured on seeded conversations of 200 turns (docs/memory.md).
CLEAR = 0.4  # a match that is worth more room than what was found in passing
_WORDS, _MEANING, _KIND = 0.4, 0.6, 0.1
# The least that words and meaning must come to. A fact is short and rarely in the way; what else was said must match
# clearly. Somebody who asks about himself asks for what he has told.
_LEAST, _LEAST_FACT, _LEAST_OWN = CLEAR, 0.22, 0.12
_LEAST_OF_BEST = 0.35
_BY_WORDS_ALONE = 0.5  # a question about himself none of whose words brings as much: any own fact may be meant


def by_words(looked_for: Mapping[str, float], found: Mapping[str, set[Place]], candidates: Collection[int]) -> Scores:
    """How much of what is looked for stands in each window, 0 to 1; rare words count more (the idf of BM25).

    A word's rarity is that among `candidates`, the branch's own messages: what others write changes nothing.
    """
    scores: defaultdict[Place, float] = defaultdict(float)
    whole = 0.0
    for term, weight in looked_for.items():
        places = [place for place in found[term] if place[0] in candidates]
        num_messages = len({pk for pk, _ in places})
        rarity = math.log(1 + (len(candidates) - num_messages + 0.5) / (num_messages + 0.5))
        whole += rarity
        for place in places:
            scores[place] += weight * rarity
    return {place: score / whole for place, score in scores.items()}


def marks_for(message: str) -> Sequence[str]:
    """The marks of windows that count for a message."""
    return FACT, OWN, asks_for(message)


def combine(
    message: str, words: Scores, meaning: Scores | None, marked: Mapping[str, set[Place]], candidates: Collection[int]
) -> Scores:
    """The scores of what is worth to be recalled for a message; `meaning` is None where there is no embedding model."""
    is_about_himself = asks_about_himself(message)
    if meaning is None:
        base = dict(words)
        least = (_LEAST, _LEAST_FACT, _LEAST_FACT)
    else:
        places = {*words, *meaning}
        base = {place: _WORDS * words.get(place, 0) + _MEANING * meaning.get(place, 0) for place in places}
        least = (_LEAST, _LEAST_FACT, _LEAST_OWN if is_about_himself else _LEAST_FACT)
    facts, own, kind = (marked[mark] for mark in marks_for(message))

    def bonus(place: Place) -> float:
        return _KIND * (0.25 * (place in facts) + 0.5 * (place in own) + 0.25 * (place in kind))

    floor = _LEAST_OF_BEST * max(base.values(), default=0)
    scores = {
        place: score + bonus(place)
        for place, score in base.items()
        if score >= max(floor, least[(place in facts) + (place in own)])
    }
    if meaning is None and is_about_himself and max(scores.values(), default=0) < _BY_WORDS_ALONE:
        scores |= {place: bonus(place) for place in own - scores.keys() if place[0] in candidates}
    return scores
