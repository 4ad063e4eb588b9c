"""Changes to what is remembered about a person, and their way out of every prompt and cache."""

from collections.abc import Collection

from asgiref.sync import async_to_sync
from django.utils import timezone

from accounts.models import User
from chat import runtime
from chat.models import Conversation, Fact
from chat.services import purging


def correct_fact(fact: Fact, *, text: str, kind: str) -> None:
    """Say it differently; conversations that know it say so from their next reply on."""
    # Not save(), which would bring one back that has been forgotten meanwhile.
    Fact.objects.filter(pk=fact.pk).update(text=text, kind=kind, corrected=True, updated_at=timezone.now())
    _drop_caches(fact.owner_id, {fact.pk})


def delete_facts(owner: int, facts: Collection[int]) -> None:
    """Forget these of a person's facts."""
    Fact.objects.filter(owner=owner, pk__in=facts).delete()
    _drop_caches(owner, set(facts))


def switch_facts(owner: int, *, on: bool) -> None:
    """Whether facts about a person are learnt and shown to the model."""
    User.objects.filter(pk=owner).update(remembers_facts=on)
    if not on:
        _drop_caches(owner, set(Fact.objects.filter(owner=owner).values_list("pk", flat=True)))


def _drop_caches(owner: int, facts: set[int]) -> None:
    """The engine's caches of conversations that began with these facts hold their old words, the files may do so."""
    async_to_sync(_purge)()
    try:
        model = runtime.chat_model()
    except runtime.ModelUnavailable:
        return
    rows = Conversation.objects.filter(owner=owner).exclude(facts=[]).values_list("pk", "facts")
    model.forget(*(str(pk) for pk, known in rows if facts.intersection(known)))


async def _purge() -> None:
    purging.soon()
