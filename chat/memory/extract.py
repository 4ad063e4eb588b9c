"""Key sentences of a conversation, taken as they stand: its memory where no model has summarised it, or not well.

The notes are lines of `User: ... ` and `Assistant: ...`, oldest first, and grow from their own earlier form: sentences
with facts stay, small talk goes, and of two values of one thing the older goes or is marked as earlier.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from langchain_core.messages import BaseMessage, HumanMessage

from chat.memory.words import names, numbers, sentences, words

LONGEST_SENTENCE = 240  # characters
_MOST_FACTS = 300  # that are compared with each other
_LEAST_VALUE = 0.6  # below it stands small talk, kept only where there is nothing else
_SPEAKER = re.compile(r"^(User|Assistant): ")
_EARLIER = "(earlier) "

# What marks a sentence as worth keeping. English first; other languages by their most common words.
_OWN = re.compile(
    r"\b(?:my|mine|our|ours|i|i'm|i've|we|we're|mein\w*|ich|wir|unser\w*|mon|je|nous|notre|yo|nosotr\w+|mis"
    r"|meu|minha|eu|mio|мо[йяеию]|меня|мне|я|мы|наш\w*|أنا|मेरा|मेरी|मैं)\b|[我私僕俺]|저는|제\s|나는|내\s",
    re.IGNORECASE,
)
_MARKED = re.compile(
    r"\b(?:remember|note that|important|decid\w+|agreed?|chose\w*|picked|deadline|due|prefer\w*|favou?rite|allerg\w+"
    r"|name(?:d|s|'s)?|called|birthday|born|address|password|code|budget|always|never|from now on|must|plan\w*|likes?"
    r"|loves?|hates?|lives?|works?|wants?|needs?|hei(?:ß|ss)\w*|namens|wohne\w*|merk\w*|appell\w+|habite\w*|llam\w+"
    r"|vivo|зовут|живу)\b|叫|住|喜欢|名前|好き|이름",
    re.IGNORECASE,
)
_UPDATE = re.compile(
    r"\b(?:now|actually|instead|correction|no longer|any ?more|meanwhile|sorry|update[ds]?|changed|moved|switched"
    r"|i meant|(?:my|our) new|jetzt|doch|maintenant|ahora|теперь)\b|现在|今は",
    re.IGNORECASE,
)
# How a sentence begins that says something beside what is being talked about: no part of the fact.
_LEAD = re.compile(
    r"^(?:(?:oh|ah|so|and|ok(?:ay)?|well|yes|no)[,!]? )*"
    r"(?:by the way|btw|just so you know|for your information|fyi|apropos|übrigens|au fait|por cierto|кстати)[,:]? +",
    re.IGNORECASE,
)
_NEWS = re.compile(r"^(?:correction|update|it has changed|that has changed|korrektur)[,:]? +", re.IGNORECASE)
# Things of somebody else, of whom the person only speaks: worth less than what is his own.
_OTHERS = re.compile(
    r"\b(?:my|our) (?:\w+ ){0,2}\w+(?:'s|s') \w|\b(?:his|her|their) \w"
    r"|\b(?:der|die|das) \w+ (?:der|des|meiner|meines) ",
    re.IGNORECASE,
)
# "Forget what I said about the dog": what was said of it before does not hold any more.
_WITHDRAWAL = re.compile(
    r"\b(?:forget|disregard|ignore) (?:what|that|everything) (?:\w+ ){0,3}(?:said|told|wrote) (?:\w+ )?"
    r"(?:about|of) (.+)"
    r"|\bwhat i (?:said|told you|wrote) about (.+?) (?:is|was)(?:n't| not| no longer) (?:true|right|correct)\b"
    r"|\bvergiss,? was ich über (.+?) gesagt",
    re.IGNORECASE,
)
_SKIPPED_WORDS = frozenset(
    (
        "now",
        "actually",
        "instead",
        "correction",
        "sorry",
        "so",
        "and",
        "but",
        "no",
        "well",
        "please",
        "remember",
        "that",
        "new",
    )
)
_EMPTY = re.compile(r"(?:my|our|the|your|his|her|its|it|was|wrong|that|where|what|mein\w*|die|der|das|den)")
_SAME_WORDS = (
    (re.compile(r"\b(?:i|we) (?:(?:have |'ve )?(?:just )?moved to|live in)\b"), "i live in"),
    (re.compile(r"\b(?:has |have |was |were )?(?:been )?(?:changed|moved|postponed|updated) to\b|\bwas\b"), "is"),
)


@dataclass(frozen=True)
class Fact:
    """One sentence of a conversation, who said it, its place, and what it is worth."""

    speaker: str  # User, Assistant, or empty in notes that somebody wrote freely
    text: str
    place: int
    value: float
    earlier: bool = False  # another sentence has a newer value


def extract(notes: str, turns: Sequence[BaseMessage], fits: Callable[[str], bool]) -> str:
    """The most valuable sentences of earlier notes and turns that `fits` accepts together; empty when none does."""
    facts = _read(notes, turns)
    facts = _settle([fact for fact in facts if fact.value >= _LEAST_VALUE] or facts)
    ranked = sorted(facts, key=lambda fact: (-fact.value, -fact.place))
    least, most = 0, len(ranked)
    while least < most:
        half = (least + most + 1) // 2
        least, most = (half, most) if fits(_write(ranked[:half])) else (least, half - 1)
    chosen = ranked[:least]
    for fact in ranked[least + 1 : least + 6]:  # shorter ones may still fit
        if fits(_write([*chosen, fact])):
            chosen.append(fact)
    return _write(chosen)


def replaces(new: str, old: str) -> bool:
    """Whether a person's newer sentence says the same as an older one, or gives a newer value of the same thing.

    Two likings are no values of one thing; two names or numbers at the end of the same words are.
    """
    newer, older = Shape(new), Shape(old)
    fate = newer.fate_of(older, same_speaker=True)
    if fate != _EARLIER_VALUE:
        return fate == _DROPPED
    return {newer.kind_of(newer.words[-1:]), older.kind_of(older.words[-1:])} <= {"name", "number"}


def worth(speaker: str, sentence: str) -> float:
    """What a sentence of a User or an Assistant is worth to be kept: below 1 is small talk, 0 says nothing."""
    return _value(speaker, sentence, len(names(sentence)), len(numbers(sentence)))


def is_own(text: str) -> bool:
    """Whether somebody speaks of himself, his own things or his own people."""
    return bool(_OWN.search(text))


def _read(notes: str, turns: Sequence[BaseMessage]) -> list[Fact]:
    facts: list[Fact] = []
    told: set[str] = set()  # names and numbers that the person has said
    for speaker, text in _speeches(notes, turns):
        for raw in sentences(text):
            sentence = _clip(_LEAD.sub("", raw.removeprefix(_EARLIER)))
            named, numbered = names(sentence), numbers(sentence)
            items = named | numbered
            if speaker == "Assistant" and items and items <= told:
                continue  # an echo, which would go stale when the person corrects himself
            if speaker == "User":
                told |= items
            if value := _value(speaker, sentence, len(named), len(numbered)):
                earlier = raw.startswith(_EARLIER)
                facts.append(Fact(speaker, sentence, len(facts), value / 3 if earlier else value, earlier))
    return facts


def _speeches(notes: str, turns: Sequence[BaseMessage]) -> Iterator[tuple[str, str]]:
    for line in notes.splitlines():
        speaker = _SPEAKER.match(line)
        yield (speaker[1] if speaker else ""), line[speaker.end() if speaker else 0 :]
    for turn in turns:
        yield ("User" if isinstance(turn, HumanMessage) else "Assistant"), turn.text


def _clip(sentence: str) -> str:
    if len(sentence) <= LONGEST_SENTENCE:
        return sentence
    head = sentence[: LONGEST_SENTENCE - 1]
    return (head.rsplit(" ", 1)[0] if " " in head[LONGEST_SENTENCE // 2 :] else head) + "…"


def _value(speaker: str, sentence: str, num_names: int, num_numbers: int) -> float:
    """What a sentence is worth; 0 for one that says nothing."""
    if not (num_numbers or num_names) and len(words(sentence)) < 3:
        return 0
    value = 0.3 + min(num_numbers, 2) + min(num_names, 2) * 0.8
    if speaker != "Assistant":
        value += 1.5 * bool(_OWN.search(sentence)) + 0.5
    value += 1.2 * bool(_MARKED.search(sentence)) + 0.8 * bool(_UPDATE.search(sentence))
    value += 0.6 * ("@" in sentence or "://" in sentence)
    if _OTHERS.search(sentence):
        value *= 0.5
    if sentence.endswith(("?", "？", "؟", "?”", '?"')):
        value *= 0.2
    if speaker == "Assistant":
        value *= 0.45 if num_names or num_numbers else 0.2
    return value / (1 + max(0, len(sentence) - 80) / 160)


def _settle(facts: list[Fact]) -> list[Fact]:
    """The facts without repetitions and without values that a newer sentence replaces, in order of place."""
    facts = sorted(sorted(facts, key=lambda fact: -fact.value)[:_MOST_FACTS], key=lambda fact: -fact.place)
    kept: list[tuple[Fact, Shape]] = []
    for fact in facts:  # newest first
        shape = Shape(fact.text)
        fate = min((newer.fate_of(shape, fact.speaker == by.speaker) for by, newer in kept), default=_KEPT)
        if fate == _EARLIER_VALUE and not fact.earlier:
            kept.append((replace(fact, earlier=True, value=fact.value / 3), shape))
        elif fate != _DROPPED:
            kept.append((fact, shape))
    return [fact for fact, _ in reversed(kept)]


_DROPPED, _EARLIER_VALUE, _KEPT = range(3)


class Shape:
    """A sentence's words as they are compared with those of an older sentence."""

    def __init__(self, sentence: str) -> None:
        text = _NEWS.sub("", _LEAD.sub("", sentence.casefold().replace("’", "'")))
        withdrawal = _WITHDRAWAL.search(text)
        topic = next(filter(None, withdrawal.groups()), "") if withdrawal else ""
        self.withdraws = {word[:5] for word in words(topic) if len(word) > 2 and not _EMPTY.fullmatch(word)}
        for pattern, same in _SAME_WORDS:
            text = pattern.sub(same, text)
        self.words = [word for word in words(text) if word not in _SKIPPED_WORDS]
        self.names = names(sentence)
        self.updates = bool(_UPDATE.search(sentence))

    def outdates(self, old: "Shape") -> bool:
        """Whether it says the same as an older sentence of the same person, gives a newer value, or withdraws it."""
        return self.fate_of(old, same_speaker=True) != _KEPT

    def fate_of(self, old: "Shape", same_speaker: bool) -> int:
        """Whether an older sentence says the same, gives an older value of the same thing, or stands for itself.

        Two values of one thing: the sentences begin alike, for most of their length, and end in values of one kind.
        """
        if self.words == old.words:
            return _DROPPED
        if self.withdraws:
            told = {word[:5] for word in old.words}
            return _EARLIER_VALUE if same_speaker and self.withdraws & told and not old.withdraws else _KEPT
        alike = 0
        for mine, other in zip(self.words, old.words, strict=False):
            if mine != other:
                break
            alike += 1
        shorter = min(len(self.words), len(old.words))
        if not same_speaker or alike < 2 or alike * 5 < shorter * 3:
            return _KEPT
        new_end, old_end = self.words[alike:], old.words[alike:]
        kind = self.kind_of(new_end)
        if (
            not new_end
            or not old_end
            or kind != old.kind_of(old_end)
            or (kind == "word" and len(new_end + old_end) > 6)
        ):
            return _KEPT
        return _DROPPED if self.updates or kind == "number" else _EARLIER_VALUE

    def kind_of(self, end: list[str]) -> str:
        """What kind of value the last words of the sentence are."""
        if any(char.isdigit() for word in end for char in word):
            return "number"
        return "name" if self.names.intersection(end) else "word"


def _write(facts: Sequence[Fact]) -> str:
    lines: list[str] = []
    speaker = None
    for fact in sorted(facts, key=lambda fact: fact.place):
        text = (_EARLIER if fact.earlier else "") + fact.text
        text += "" if text.rstrip("\"'”’)").endswith((".", "!", "?", "…", "。", "！", "？", "؟")) else "."
        if fact.speaker == speaker:
            lines[-1] += f" {text}"
        else:
            lines.append(f"{fact.speaker}: {text}" if fact.speaker else text)
        speaker = fact.speaker
    return "\n".join(lines)
