"""What a person typed, made safe to keep: cleaned of control characters, never otherwise changed."""

import re
import unicodedata

# C0 controls but tab and newline, DEL, and lone halves of surrogate pairs.
_UNWANTED = re.compile("[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")


def clean(raw: str) -> str:
    r"""The same text with newlines as `\\n` and without characters that databases or tokenizers stumble over."""
    return _UNWANTED.sub("", raw.replace("\r\n", "\n").replace("\r", "\n"))


def is_blank(text: str) -> bool:
    """True when nothing in it can be seen: white space, zero-width and other format characters alone."""
    return all(char.isspace() or unicodedata.category(char) == "Cf" for char in text)
