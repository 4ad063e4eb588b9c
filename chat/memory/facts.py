"""Facts about a person for all of his conversations: sentences in which he speaks of himself, taken as he said them.

No model takes part: a weak one invents, and the person reads in his list exactly what he said and where.
"""

import asyncio
import re
import uuid
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import transaction
from langchain_core.messages import HumanMessage

from accounts.models import User
from chat.database import in_database
from chat.memory.budget import Budget
from chat.memory.extract import LONGEST_SENTENCE, replaces
from chat.memory.prompt import Count, Layout
from chat.memory.words import sentences, words
from chat.models import Conversation, Fact, Message

if TYPE_CHECKING:
    from chat.llm import LocalChatModel

MOST = 100  # facts of one person; a new one takes the place of the oldest that he has not corrected himself

_NAME = re.compile(
    r"\b(?:my (?:full |first |last |family )?name(?: is|'s)|(?:people |you can |please |just )?call me"
    r"|ich hei(?:ß|ss)e|mein name ist|je m'appelle|me llamo|mi nombre es|mi chiamo|meu nome é)\b"
    r"|меня зовут|我叫|我的名字|私の名前は",
    re.IGNORECASE,
)
_PREFERENCE = re.compile(
    r"\bI(?:'d| would)? (?:\w+ )?(?:prefer|like|love|hate|dislike|enjoy|avoid|can't stand|don't (?:like|eat|drink))\b"
    r"|\bmy favou?rite\b|\b(?:I am|I'm) (?:\w+ )?(?:allergic|vegan|vegetarian|left-handed|colou?r-?blind)\b"
    r"|\b(?:always|never) (?:answer|reply|write|use|call|address|give|tell)\b|\bfrom now on\b"
    r"|\bich (?:mag|liebe|hasse|bevorzuge)\b|\bj'(?:aime|adore|évite)\b|\bje (?:préfère|déteste)\b"
    r"|\b(?:me gusta|prefiero|odio)\b|我喜欢|私は.{1,20}が好き",
    re.IGNORECASE,
)
_DECISION = re.compile(
    r"\b(?:we|I)(?:'ve| have)? (?:just |now |finally )?(?:decided|agreed|chosen|settled on|picked)\b"
    r"|\b(?:our|my) decision\b|\bwir haben (?:uns )?.{0,60}(?:entschieden|beschlossen)\b|\bnous avons décidé\b"
    r"|\bhemos decidido\b|我们决定",
    re.IGNORECASE,
)
_OTHER = re.compile(
    r"\bI (?:live|work|study|was born|come from|speak|moved|have (?:a|an|two|three|\d+))\b"
    r"|\bmy (?:\w+ ){0,2}\w+ (?:is|are|was)\b|\b(?:I'm|I am) (?:from|a|an|the|based|\d+)\b"
    r"|\bich (?:wohne|lebe|arbeite|komme aus)\b|\bmein\w* (?:\w+ )?\w+ (?:ist|heißt)\b"
    r"|\bj'habite\b|\bvivo en\b|\btrabajo\b|我住|我的.{1,20}是",
    re.IGNORECASE,
)
_KINDS = (
    (_NAME, Fact.Kind.NAME),
    (_DECISION, Fact.Kind.DECISION),
    (_PREFERENCE, Fact.Kind.PREFERENCE),
    (_OTHER, Fact.Kind.OTHER),
)
# What is said for this moment: about the task, the text or the assistant.
_PASSING = re.compile(
    r"\b(?:my|the) (?:next |last |first |other |second )?"
    r"(?:question|problem|code|error|request|message|idea|point|task|input)\b"
    r"|\b(?:I'm|I am) (?:a bit |so |very |really |just |not )*"
    r"(?:sorry|sure|afraid|glad|happy|tired|confused|stuck|trying|looking|wondering)\b"
    r"|\bI(?:'d| would) (?:like|love) (?:to|you)\b|\bI like (?:it|that|this|your|the idea)\b",
    re.IGNORECASE,
)
_SECRET = re.compile(
    r"\b(?:pass(?:word|phrase|wort|code)|contraseña|mot de passe|api[- ]?key|token|secret|pin(?: code)?|iban"
    r"|credit card|card number|cvv|social security|ssn)\b|密码|\b(?:\d[ -]?){13,19}\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Found:
    """A sentence that says something lasting about a person."""

    kind: str
    text: str


def find(text: str) -> list[Found]:
    """The sentences of a person's message that are worth keeping about him. Secrets and questions never are."""
    return [Found(kind, sentence) for sentence in sentences(text) if (kind := _kind(sentence))]


async def choose(conversation: Conversation, model: "LocalChatModel") -> None:
    """Fix, before the first message, what a conversation knows about its owner: the newest facts that fit their share.

    They stay as they are then, since they stand at the prompt's beginning; one that is corrected or deleted changes.
    """
    facts = await in_database(_of_owner, conversation.owner_id)
    share = Budget.of(model.context_tokens, settings.LLM_MAX_REPLY_TOKENS).facts
    chosen = await asyncio.to_thread(_that_fit, facts, share, model.count)
    if chosen != conversation.facts:
        conversation.facts = chosen
        await in_database(conversation.save, update_fields=["facts"])


@transaction.atomic
def learn(conversation_id: uuid.UUID, leaf: int) -> int:
    """Keep what the person said of himself in the message that reply `leaf` answers; how many facts are new.

    Nothing unless its owner has switched that on. A newer value takes the place of the older one.
    """
    conversation = Conversation.locked().filter(pk=conversation_id).first()
    message = Message.objects.filter(children=leaf, conversation=conversation_id).first()
    if conversation is None or message is None:
        return 0
    # He may be told of in another conversation at this moment, or be switching it off.
    owners = User.objects.select_for_update(no_key=True).filter(pk=conversation.owner_id)
    if not owners.filter(remembers_facts=True, is_active=True).first():
        return 0
    return sum(_keep(conversation.owner_id, message, found) for found in find(message.text))


def _of_owner(owner: int) -> list[Fact]:
    return list(Fact.objects.filter(owner=owner, owner__remembers_facts=True))


def _that_fit(facts: list[Fact], share: int, count: Count) -> list[int]:
    """Ids of as many of the newest facts as have room together, oldest first."""

    def is_too_long(start: int) -> bool:
        layout = Layout(HumanMessage("."), facts=tuple(fact.text for fact in facts[start:]))
        return count(layout.messages()) - count([layout.message]) > share

    start = bisect_left(range(len(facts)), True, key=lambda start: not is_too_long(start))
    return [fact.pk for fact in facts[start:]]


def _kind(sentence: str) -> str:
    if len(words(sentence)) < 3 or len(sentence) > LONGEST_SENTENCE:
        return ""
    if sentence.endswith(("?", "？", "؟")) or _SECRET.search(sentence) or _PASSING.search(sentence):
        return ""
    return next((kind for pattern, kind in _KINDS if pattern.search(sentence.replace("’", "'"))), "")


def _keep(owner: int, message: Message, found: Found) -> bool:
    known = list(Fact.objects.filter(owner=owner))
    if any(words(fact.text) == words(found.text) for fact in known):
        return False
    outdated = [fact.pk for fact in known if replaces(found.text, fact.text)]
    Fact.objects.filter(pk__in=[*outdated, *_too_many(known, outdated)]).delete()
    Fact.objects.create(owner_id=owner, kind=found.kind, text=found.text, source=message)
    return True


def _too_many(known: Iterable[Fact], outdated: list[int]) -> list[int]:
    left = [fact for fact in known if fact.pk not in outdated]
    by_worth = sorted(left, key=lambda fact: (fact.corrected, fact.pk))
    return [fact.pk for fact in by_worth[: max(0, len(left) - MOST + 1)]]
