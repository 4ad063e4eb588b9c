"""The way to a conversation of whoever asks."""

import uuid
from collections.abc import Callable
from typing import TypeVar

from django.http import Http404

from chat.api.auth import KeyRequest
from chat.database import in_database
from chat.models import Conversation

R = TypeVar("R")


async def with_own(request: KeyRequest, pk: uuid.UUID, work: Callable[[Conversation], R]) -> R:
    """Do something with this person's conversation, near the database. 404 for missing and foreign ones alike."""

    def find_and_work() -> R:
        here = Conversation.objects.visible_to(request.auth).filter(pk=pk).first()
        if here is None:
            raise Http404
        return work(here)

    return await in_database(find_and_work)
