"""What kind of thing a window of a message says and a question asks for, so that facts are told from small talk."""

import re
from collections.abc import Set

from chat.memory.extract import is_own, worth
from chat.memory.words import names, numbers, sentences

FACT, OWN, NAME, NUMBER = "fact", "own", "name", "number"

_ASKS = ("?", "\uff1f", "\u061f")
# What a sentence must be worth to be a fact. What the assistant says is worth less to notes: a short sentence of his
# with a name or a number has half a point.
_LEAST_WORTH = {"User": 1.0, "Assistant": 0.45}
_HOW_TO = re.compile(
    r"\bhow (?:do|can|could|should|would|might) (?:i|we)\b|^\W*(?:can|could|should|may|shall) (?:i|we)\b"
    r"|\bwie (?:kann|soll|sollte|könnte) (?:ich|man)\b|\bcomment (?:puis-je|faire)\b|\bcómo puedo\b|\bкак мне\b",
    re.IGNORECASE,
)
# "Which doctor treats me?" is about oneself, "Can you tell me what a doctor does?" is not.
_ME = re.compile(r"\b(?:me|us|mich|mir|uns|moi|mí|mim)\b", re.IGNORECASE)
_REQUEST = re.compile(
    r"\b(?:tell|show|give|explain|help|send|write|teach|read|recommend|let|find|make|draw|sag\w*|zeig\w*|gib|erklär\w*"
    r"|hilf|helfen|schreib\w*|explique\w*|montre\w*|aide\w*|di[mg]\w*|ayuda\w*|ajuda\w*)\b",
    re.IGNORECASE,
)
_FOR_A_NUMBER = re.compile(
    r"\b(?:when|how (?:many|much|big|old|long|tall|far|late|often)|cost|birthday|(?:what|which|by which|from what)"
    r" (?:time|year|number|quantity|size|price|date|day|hour)|wann|wie ?(?:viel\w*|alt|lang|groß)|quand|combien|cuándo"
    r"|cuánt\w+|quando|quanto|когда|сколько)\b|几|多少|什么时候|いくつ|いつ|何時",
    re.IGNORECASE,
)


def marks_of(speaker: str, window: str) -> Set[str]:
    """Of what somebody says there; what he asks has none."""
    found: set[str] = set()
    for sentence in sentences(window):
        if not sentence.endswith(_ASKS) and worth(speaker, sentence) >= _LEAST_WORTH[speaker]:
            kinds = {FACT: True, OWN: is_own(sentence), NAME: names(sentence), NUMBER: numbers(sentence)}
            found |= {mark for mark, is_there in kinds.items() if is_there}
    return found if speaker == "User" else found - {OWN}


def asks(message: str) -> bool:
    """Whether it is a question."""
    return any(mark in message for mark in _ASKS)


def asks_about_himself(message: str) -> bool:
    """Whether it is a question about the one who asks, other than how to do something."""
    return asks(message) and _is_about_me(message) and not _HOW_TO.search(message)


def asks_about_somebody(message: str) -> bool:
    """Whether one of its questions names somebody or something, or is about the one who asks."""
    return any(
        asks(sentence) and (_is_about_me(sentence) or names(sentence)) and not _HOW_TO.search(sentence)
        for sentence in sentences(message)
    )


def asks_for(message: str) -> str:
    """NUMBER for dates, times and amounts, else NAME."""
    return NUMBER if _FOR_A_NUMBER.search(message) else NAME


def _is_about_me(text: str) -> bool:
    return is_own(text) or bool(_ME.search(text) and not _REQUEST.search(text))
