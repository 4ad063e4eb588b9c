"""The last gate before the page: only these elements, attributes, classes and addresses get through."""

import nh3

from chat.rendering.highlighting import CLASSES


def _names(text: str) -> set[str]:
    return set(text.split())


_TEXT = _names(
    "p br hr h1 h2 h3 h4 h5 h6 strong em s code pre a ul ol li blockquote table thead tbody tr th td sup div span "
    "button input"
)
_MATH = _names(
    "math mrow mi mn mo ms mtext mspace mfrac msqrt mroot mstyle merror mpadded mphantom menclose msub msup msubsup "
    "munder mover munderover mmultiscripts mprescripts none mtable mtr mtd mlabeledtr"
)
_MATH_ATTRIBUTES = _names(
    "accent accentunder columnalign columnlines columnspacing depth displaystyle fence form height largeop linebreak "
    "linethickness lspace mathbackground mathcolor mathsize mathvariant maxsize minsize movablelimits notation "
    "rowlines rowspacing rspace scriptlevel separator stretchy symmetric voffset width"
)

_cleaner = nh3.Cleaner(
    tags=_TEXT | _MATH,
    clean_content_tags={"script", "style"},
    attributes={
        "a": {"href", "title"},
        "ol": {"start"},
        **dict.fromkeys(_MATH, _MATH_ATTRIBUTES),
    },
    tag_attribute_values={
        "button": {"type": {"button"}},
        "input": {"type": {"checkbox"}, "checked": {"", "checked"}, "disabled": {"", "disabled"}},
        "math": {"display": {"block", "inline"}},
    },
    # Even markup that got past the parser cannot become a control that works.
    set_tag_attribute_values={
        "a": {"target": "_blank"},
        "button": {"type": "button"},
        "input": {"type": "checkbox", "disabled": ""},
    },
    allowed_classes={
        "a": {"image-link"},
        "button": {"code-copy"},
        "div": {"code", "code-head", "footnote", "math", "table"},
        "li": {"task-list-item"},
        "p": {"math-source"},
        "pre": {"plain"},
        "span": {"code-lang", "footnote-label", "math-source", *CLASSES},
        "sup": {"footnote-ref"},
        "td": {"left", "center", "right"},
        "th": {"left", "center", "right"},
    },
    link_rel="noopener noreferrer nofollow",
    url_schemes={"http", "https", "mailto"},
    url_relative="deny",
)


def sanitize(html: str) -> str:
    """The HTML without anything that is not expected in a reply."""
    return _cleaner.clean(html)
