"""How well the windows of old messages match what is looked for: 0 to 1, by rare words and by meaning."""

import math
from collections import defaultdict
from collections.abc import Collection, Mapping

from chat.memory.search import Place

Scores = Mapping[Place, float]


def by_words(looked_for: Mapping[str, float], found: Mapping[str, set[Place]], candidates: Collection[int]) -> Scores:
    """How much of what is looked for stands in each window; rare words count more (the idf of BM25).

    A word's rarity is that among `candidates`, the branch's own messages: what others write changes nothing.
    """
    scores: defaultdict[Place, float] = defaultdict(float)
    whole = 0.0
    for term, weight in looked_for.items():
        places = [place for place in found[term] if place[0] in candidates]
        num_messages = len({pk for pk, _ in places})
        rarity = weight * math.log(1 + (len(candidates) - num_messages + 0.5) / (num_messages + 0.5))
        whole += rarity / weight
        for place in places:
            scores[place] += rarity
    return {place: score / whole for place, score in scores.items()}
