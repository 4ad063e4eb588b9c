"""Sentences, words, names and numbers of a text, in any script, found without a model."""

import re
import unicodedata

# Scripts that put no spaces between words: there, each character counts as a word.
UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[{UNSPACED}]|(?:(?![{UNSPACED}])\w)+(?:['’](?:(?![{UNSPACED}])\w)+)?")
_FENCE = re.compile(r"(?:```|~~~).*?(?:```|~~~|\Z)", re.DOTALL)
_LINE_MARK = re.compile(r"^[ \t]*(?:#{1,6}[ \t]|>[ \t]?|[-*+•][ \t]|\d{1,2}[.)][ \t])+", re.MULTILINE)
_TABLE_ROW = re.compile(r"^[ \t]*\|.*$", re.MULTILINE)
_EMPHASIS = re.compile(r"\*\*|__(?=\w)|(?<=\w)__|`")
# A sentence ends at its mark, but not after an abbreviation, an initial or the number of a day in German (3. Mai).
_ABBREVIATIONS = ("Dr", "Mr", "Ms", "Mrs", "St", "No", "Nr", "vs", "e.g", "i.e", "z.B", "ca", "approx")
_SENTENCE_END = re.compile(
    r"(?<=[.!?…])"
    + "".join(rf"(?<!\b{re.escape(word)}\.)" for word in _ABBREVIATIONS)
    + r"(?<!\b[A-Z]\.)\s+"
    + r"(?!(?<=\d\.\s)(?:Januar|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember)\b)"
    + r"|(?<=[.!?…][\"'”’)])\s+|(?<=[。！？])|\n+"
)
_GROUPING = re.compile(r"(?<=\d)[,.'’\u00a0\u202f ](?=\d{3}(?!\d))")
_NO_NAMES = frozenset(("i", "i'm", "i've", "i'll", "i'd", "ok", "okay", "user", "assistant", "ai"))


def sentences(text: str) -> list[str]:
    """Its sentences without Markdown's marks, code blocks and tables, white space made one."""
    for pattern in (_FENCE, _TABLE_ROW, _LINE_MARK, _EMPHASIS):
        text = pattern.sub("", text)
    return [line for part in _SENTENCE_END.split(text) if (line := " ".join(part.split())) and _WORD.search(line)]


def words(text: str) -> list[str]:
    """Its words in order, case folded; single characters where a script has no spaces."""
    return [word.replace("’", "'").casefold() for word in _WORD.findall(text)]


def numbers(text: str) -> set[str]:
    """Its numbers in ASCII digits, thousands not grouped; 3:30 and 12.5 count as two each."""
    found = re.findall(r"\d+", _GROUPING.sub("", text))
    return {_in_ascii(number).lstrip("0") or "0" for number in found}


def names(sentence: str) -> set[str]:
    """Words of a sentence that look like names: capitals in the middle of it, or of its whole (USB), case folded."""
    found = _WORD.findall(sentence)
    if sum(word[0].isupper() for word in found) * 5 > len(found) * 4 and len(found) > 4:
        return set()  # a headline, or shouting
    return {
        stem
        for at, word in enumerate(found)
        if word[0].isupper()
        and (at or (len(word) > 1 and word.isupper()))
        and (stem := without_genitive(word.replace("’", "'").casefold())) not in _NO_NAMES
    }


def without_genitive(word: str) -> str:
    """The word without an English 's."""
    return word.removesuffix("'s")


def _in_ascii(number: str) -> str:
    return number if number.isascii() else "".join(str(unicodedata.decimal(digit)) for digit in number)
