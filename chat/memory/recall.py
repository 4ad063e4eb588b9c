"""Recall: the old messages of a branch that may matter to its new one, found by their words and by what they mean."""

import logging
import traceback
import uuid
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from django.db import OperationalError
from django.utils import timezone

from chat import runtime
from chat.database import in_database
from chat.memory import scores, search, vectors, wanted
from chat.memory.branch import Branch
from chat.memory.budget import Budget
from chat.memory.marks import asks
from chat.memory.newest import settle
from chat.memory.passages import SPEAKERS, Hit, Said, compose
from chat.memory.prompt import Passage, ids
from chat.memory.scores import Scores
from chat.memory.words import sentences
from chat.models import Message

logger = logging.getLogger(__name__)

MOST_HITS = 24
_MESSAGES_BEFORE = 2  # whose words count for a question without content words
_FRESH = 0.05  # of two equal scores that of the newer message counts more, by this share at most


async def passages_for(branch: Branch, budget: Budget) -> tuple[Passage, ...]:
    """What may be recalled for the branch's new message, the best first. Raises nothing: a reply can do without."""
    if not branch.layout.notes and sum(len(turn.text) for turn in branch.layout.turns) < budget.prompt:
        return ()  # all of it is shown anyway
    message = branch.layout.message.text
    before = [turn.text for turn in branch.layout.turns[-_MESSAGES_BEFORE:]]
    if not (looked_for := wanted.terms(message, before if asks(message) else ())):
        return ()
    try:
        meaning = await _meaning(branch, message if wanted.content(message) else "\n".join([*before, message]))
        return await in_database(_passages, branch, looked_for, meaning)
    except Exception as error:
        logger.error("Nothing was recalled in conversation %s: %s", branch.conversation, _place(error))
        return ()


async def make_findable(conversation: uuid.UUID) -> None:
    """Index what is not yet of a conversation, by words and by meaning; gives way to replies. Raises nothing."""
    try:
        await in_database(search.add_missing, conversation)
        if embedder := runtime.embedder():
            await vectors.add_missing(conversation, embedder)
    except Exception as error:
        logger.error("Conversation %s was not indexed: %s", conversation, _place(error))


async def _meaning(branch: Branch, question: str) -> Scores | None:
    """How near old messages are to the question; None where that cannot be told, or not at once."""
    embedder = runtime.embedder()
    vector = await vectors.of_question(question, embedder) if embedder else None
    if embedder is None or vector is None:
        return None
    return await in_database(
        vectors.by_meaning, branch.conversation, vector, embedder.info.fingerprint, set(branch.path[:-1])
    )


def _passages(branch: Branch, looked_for: Mapping[str, float], meaning: Scores | None) -> tuple[Passage, ...]:
    try:
        search.add_missing(branch.conversation)
    except OperationalError:  # somebody else is writing; what is in the index does for now
        logger.info("The index of conversation %s could not be brought up to date", branch.conversation)
    candidates = branch.path[:-1]
    by_words = scores.by_words(looked_for, search.find(branch.conversation, looked_for), set(candidates))
    marked = search.marked(branch.conversation, scores.marks_for(branch.layout.message.text))
    found = scores.combine(branch.layout.message.text, by_words, meaning or None, marked, set(candidates))
    return _compose(branch, candidates, found)


def _compose(branch: Branch, candidates: Sequence[int], found: Scores) -> tuple[Passage, ...]:
    """Of old messages, and of those that are verbatim in the layout in case that they get trimmed."""
    verbatim, pinned = set(ids(branch.layout.turns)), set(ids(branch.layout.pinned))
    sides = (
        _Side([pk for pk in candidates if pk not in verbatim and pk not in pinned], found),
        _Side([pk for pk in candidates if pk in verbatim], found),
    )
    said = _read(branch, {pk for side in sides for hit in side.hits for pk in (hit, *side.beside(hit))})
    hits = [Hit(said[pk], side.windows[pk], side.score(pk)) for side in sides for pk in side.hits if pk in said]
    notes = branch.layout.notes.text if branch.layout.notes else ""
    hits = [hit for hit in hits if hit.score >= scores.CLEAR or not _is_told(hit.quote(), notes)]
    beside = {pk: [said[other] for other in side.beside(pk) if other in said] for side in sides for pk in side.hits}
    return compose(settle(hits, branch.layout.turns, notes), beside)


def _is_told(text: str, notes: str) -> bool:
    """Whether the notes have it word for word."""
    return all(sentence.rstrip(".") in notes for sentence in sentences(text))


class _Side:
    """Messages of a branch that are neighbours of each other, and the best of those that were found."""

    def __init__(self, pks: Sequence[int], found: Scores) -> None:
        self._pks = pks
        self._place = {pk: at for at, pk in enumerate(pks)}
        self.windows: defaultdict[int, dict[int, float]] = defaultdict(dict)
        for (pk, at), score in found.items():
            if pk in self._place:
                self.windows[pk][at] = score
        self.hits = sorted(self.windows, key=lambda pk: (-self.score(pk), -pk))[:MOST_HITS]

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
        pk: Said(pk, SPEAKERS[role], timezone.localdate(at), text)
        for pk, role, at, text in rows.values_list("pk", "role", "created_at", "text")
        if text.strip()
    }


def _place(error: Exception) -> str:
    """Where an error came from, without its text, which may hold what was said."""
    where = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__} at {where.filename}:{where.lineno}"
