"""Recall: the old messages of a branch that may matter to its new one, found by their words and by what they mean."""

import logging
import traceback
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from django.db import OperationalError
from django.utils import timezone

from chat.database import in_database
from chat.memory import search, wanted
from chat.memory.branch import Branch
from chat.memory.budget import Budget
from chat.memory.newest import settle
from chat.memory.passages import ASSISTANT, USER, Hit, Said, compose
from chat.memory.prompt import Passage, ids
from chat.memory.scores import Scores, by_words
from chat.models import Message

logger = logging.getLogger(__name__)

MOST_HITS = 8
LEAST = 0.3  # the score below which nothing is recalled
_MESSAGES_BEFORE = 2  # whose words count for a question without content words
_FRESH = 0.05  # of two equal scores that of the newer message counts more, by this share at most


async def passages_for(branch: Branch, budget: Budget) -> tuple[Passage, ...]:
    """What may be recalled for the branch's new message, the best first. Raises nothing: a reply can do without."""
    if not branch.layout.notes and sum(len(turn.text) for turn in branch.layout.turns) < budget.prompt:
        return ()  # all of it is shown anyway
    try:
        return await in_database(_passages, branch)
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{type(error).__name__} at {where.filename}:{where.lineno}"
        logger.error("Nothing was recalled in conversation %s: %s", branch.conversation, place)
        return ()


def _passages(branch: Branch) -> tuple[Passage, ...]:
    try:
        search.add_missing(branch.conversation)
    except OperationalError:  # somebody else is writing; what is in the index does for now
        logger.info("The index of conversation %s could not be brought up to date", branch.conversation)
    before = branch.layout.turns[-_MESSAGES_BEFORE:]
    looked_for = wanted.terms(branch.layout.message.text, [turn.text for turn in before])
    candidates = branch.path[:-1]
    scores = by_words(looked_for, search.find(branch.conversation, looked_for), set(candidates))
    return _compose(branch, candidates, scores)


def _compose(branch: Branch, candidates: Sequence[int], scores: Scores) -> tuple[Passage, ...]:
    """Of old messages, and of those that are verbatim in the layout in case that they get trimmed."""
    verbatim, pinned = set(ids(branch.layout.turns)), set(ids(branch.layout.pinned))
    sides = (
        _Side([pk for pk in candidates if pk not in verbatim and pk not in pinned], scores),
        _Side([pk for pk in candidates if pk in verbatim], scores),
    )
    said = _read(branch, {pk for side in sides for hit in side.hits for pk in (hit, *side.beside(hit))})
    hits = [Hit(said[pk], side.windows[pk], side.score(pk)) for side in sides for pk in side.hits if pk in said]
    beside = {pk: [said[other] for other in side.beside(pk) if other in said] for side in sides for pk in side.hits}
    return compose(settle(hits, branch.layout.turns), beside)


class _Side:
    """Messages of a branch that are neighbours of each other, and the best of those that were found."""

    def __init__(self, pks: Sequence[int], scores: Scores) -> None:
        self._pks = pks
        self._place = {pk: at for at, pk in enumerate(pks)}
        self.windows: defaultdict[int, dict[int, float]] = defaultdict(dict)
        for (pk, at), score in scores.items():
            if pk in self._place:
                self.windows[pk][at] = score
        worth = [pk for pk in self.windows if max(self.windows[pk].values()) >= LEAST]
        self.hits = sorted(worth, key=lambda pk: (-self.score(pk), -pk))[:MOST_HITS]

    def score(self, pk: int) -> float:
        """That of its best window."""
        return max(self.windows[pk].values()) * (1 + _FRESH * self._place[pk] / len(self._pks))

    def beside(self, pk: int) -> Sequence[int]:
        """The messages before and after, as far as there are."""
        at = self._place[pk]
        return [*self._pks[max(0, at - 1) : at], *self._pks[at + 1 : at + 2]]


def _read(branch: Branch, pks: Iterable[int]) -> Mapping[int, Said]:
    """What is really said there, without replies that have not ended."""
    rows = Message.objects.filter(conversation=branch.conversation, pk__in=pks).exclude(status__in=Message.UNFINISHED)
    return {
        row.pk: Said(
            row.pk,
            USER if row.role == Message.Role.USER else ASSISTANT,
            timezone.localdate(row.created_at),
            row.text,
        )
        for row in rows.only("role", "created_at", "text")
        if row.text.strip()
    }
