"""WordPiece as BERT's own tokenizer does it (lower case, without accents), to hold ours against."""

import unicodedata

_IDEOGRAPHS = (
    (0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F), (0x2B820, 0x2CEAF), (0xF900, 0xFAFF), (0x2F800, 0x2FA1F),
)  # fmt: skip


def pieces(text, vocabulary):
    """The pieces of a text."""
    plain = "".join(_letter(character) for character in "".join(map(_cleaned, text)))
    spaced = "".join(f" {character} " if _is_punctuation(character) else character for character in plain)
    return [piece for word in spaced.split() for piece in _pieces_of(word, vocabulary)]


def _cleaned(character):
    if character in "\t\n\r" or unicodedata.category(character) == "Zs":
        return " "
    if character == "\ufffd" or unicodedata.category(character).startswith("C"):
        return ""
    is_ideograph = any(first <= ord(character) <= last for first, last in _IDEOGRAPHS)
    return f" {character} " if is_ideograph else character


def _letter(character):
    parts = unicodedata.normalize("NFD", character)
    return "".join(part.lower() for part in parts if unicodedata.category(part) != "Mn")


def _is_punctuation(character):
    return unicodedata.category(character).startswith("P") or (character.isascii() and character in "$+<=>^`|~")


def _pieces_of(word, vocabulary):
    found, at = [], 0
    while at < len(word):
        begin = "##" if at else ""
        ends = (end for end in range(len(word), at, -1) if begin + word[at:end] in vocabulary)
        if (end := next(ends, None)) is None:
            return ["[UNK]"]
        found.append(begin + word[at:end])
        at = end
    return found
