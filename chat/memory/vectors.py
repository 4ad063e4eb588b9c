"""What old messages mean: vectors of their windows, computed in the background, and how near a question is to them."""

import asyncio
import logging
import uuid
from collections.abc import Collection, Sequence
from typing import cast

import numpy as np
from django.db import transaction

from chat.database import in_database
from chat.inference.embedding import Embedder, Urgency, Vectors
from chat.inference.request import EngineFailed, QueueFull
from chat.memory.scores import Scores
from chat.memory.windows import windows
from chat.models import Conversation, Message, Vector

logger = logging.getLogger(__name__)

MOST_WINDOWS = 64  # of one message, about 15,000 characters; what comes after them is found by its words alone
PATIENCE = 0.1  # seconds that a reply waits for the question's vector
_PORTION = 16  # messages that are computed and stored together
_LONGEST_QUESTION = 1000  # characters

_at_work: set[uuid.UUID] = set()


async def add_missing(conversation: uuid.UUID, embedder: Embedder) -> None:
    """Compute the vectors that a conversation's finished messages do not have yet, of this embedding model.

    Gives way to replies. Raises nothing: what fails is tried again after the next reply. While another call is at
    work on the conversation, that one does it.
    """
    if conversation in _at_work:
        return
    _at_work.add(conversation)
    try:
        while missing := await in_database(_missing, conversation, embedder.info.fingerprint):
            texts = [window for _, text in missing for window in _counting(text)]
            vectors = await embedder.aembed(texts, Urgency.INDEX)
            await in_database(_store, conversation, missing, vectors, embedder.info.fingerprint)
    except (EngineFailed, QueueFull) as error:
        logger.warning("Conversation %s: vectors are missing: %s", conversation, error)
    finally:
        _at_work.discard(conversation)


async def of_question(text: str, embedder: Embedder) -> Vectors | None:
    """The vector of a question, (dims,); None if it cannot be had at once."""
    try:
        async with asyncio.timeout(PATIENCE):
            (vector,) = await embedder.aembed([text[:_LONGEST_QUESTION]], Urgency.QUERY)
            return cast("Vectors", vector)
    except (EngineFailed, QueueFull, TimeoutError) as error:
        logger.info("A question is looked for by its words alone: %s", type(error).__name__)
        return None


def by_meaning(conversation: uuid.UUID, question: Vectors, fingerprint: str, candidates: Collection[int]) -> Scores:
    """How near each window of the candidates is to the question: the cosine, at least 0."""
    stored = Vector.objects.filter(message__conversation=conversation, fingerprint=fingerprint).order_by("pk")
    rows = [(pk, values) for pk, values in stored.values_list("pk", "values") if pk in candidates]
    if not rows:
        return {}
    matrix = np.frombuffer(b"".join(values for _, values in rows), "<f2").reshape(-1, len(question))
    places = ((pk, at) for pk, values in rows for at in range(len(values) // (2 * len(question))))
    # Not `@`, which takes several threads for so few numbers and waits for them while replies are written.
    cosines = np.einsum("ij,j->i", matrix.astype(np.float32), question).tolist()
    return {place: cosine for place, cosine in zip(places, cosines, strict=True) if cosine > 0}


def _counting(text: str) -> Sequence[str]:
    return windows(text)[:MOST_WINDOWS]


def _missing(conversation: uuid.UUID, fingerprint: str) -> list[tuple[int, str]]:
    finished = Message.objects.filter(conversation=conversation).exclude(status__in=Message.UNFINISHED)
    missing = finished.exclude(text="").exclude(vector__fingerprint=fingerprint).order_by("pk")
    return list(missing.values_list("pk", "text")[:_PORTION])


@transaction.atomic
def _store(conversation: uuid.UUID, computed: Sequence[tuple[int, str]], vectors: Vectors, fingerprint: str) -> None:
    """Unless a message has been forgotten, changed or deleted in the meantime."""
    Conversation.locked().filter(pk=conversation).first()
    current = dict(Message.objects.filter(pk__in=[pk for pk, _ in computed]).values_list("pk", "text"))
    rows, start = [], 0
    for pk, text in computed:
        end = start + len(_counting(text))
        if current.get(pk) == text:
            values = vectors[start:end].astype("<f2").tobytes()
            rows.append(Vector(message_id=pk, fingerprint=fingerprint, values=values))
        start = end
    Vector.objects.bulk_create(
        rows, update_conflicts=True, unique_fields=["message"], update_fields=["fingerprint", "values"]
    )
