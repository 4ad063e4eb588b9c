"""TeX to MathML, within limits."""

import html
import re
from functools import lru_cache
from xml.etree.ElementTree import Element, tostring

from latex2mathml.converter import convert_to_element

MAX_CHARACTERS = 3000
# Macros may grow without end.
_MACRO = re.compile(r"\\(?:(?:re|provide)?newcommand|[egx]?def|let|DeclareMathOperator)(?![a-z])")
_ENVIRONMENT = re.compile(r"\\(begin|end)\{(\w+)\*?\}")
# What latex2mathml does not know, said with what it knows. Numbers of equations are left out: they begin anew anyway.
_SAME_AS = {
    "align": "align*",
    "aligned": "align*",
    "flalign": "align*",
    "gather": "matrix",
    "gathered": "matrix",
    "multline": "matrix",
}


@lru_cache(maxsize=256)
def to_mathml(tex: str, *, display: bool) -> str | None:
    """A `math` element for the formula, or None if it is too long or not understood."""
    if len(tex) > MAX_CHARACTERS or _MACRO.search(tex):
        return None
    try:
        math = convert_to_element(_ENVIRONMENT.sub(_known, tex.strip()), display="block" if display else "inline")
        return _serialised(math)
    except Exception:  # the library raises whatever it meets, RecursionError included
        return None


def _known(found: re.Match[str]) -> str:
    name = _SAME_AS.get(found[2])
    return f"\\{found[1]}{{{name}}}" if name else found[0]


def _serialised(math: Element) -> str:
    # The library writes character references into its texts and, to keep them, leaves the texts unescaped; so people's
    # \text{<b>} would become an element.
    for element in math.iter():
        element.text = html.unescape(element.text) if element.text else element.text
    math.attrib.pop("xmlns", None)
    return tostring(math, encoding="unicode")
