"""Random texts that look like replies, and like attacks, and random ways in which they arrive."""

from hypothesis import strategies as st

LINES = st.sampled_from(
    [
        "", "", "", " ", "Some *text* and `code`.", "**bold** $x^2$ and \\(y\\)", "# Heading", "===", "---",
        "- item", "- [x] done",
        "  - nested", "  more", "    indented", "1. one", "2. two", "2", "* * *", "> quote", "> - list in it",
        ">", "```python",
        "```", "x = '$1' # \\(a\\)", "~~~", "``", "|a|b|", "|---|--:|", "| 1 | 2 |", "a | b", "$$", "\\[ a",
        "b \\]", "$$ z $$",
        "$$ z $$ and", "\\begin{align}", "a &= b \\\\", "\\end{align}", "(~50) and (~45)", "<b>no</b>",
        "https://example.org/a_b",
        "![p](https://example.org/p.png)", "[l](https://example.org)", "[l](javascript:alert(1))", "\ttab",
        "x[^1] y", "- ",
    ]
)  # fmt: skip
REPLIES = st.lists(LINES, max_size=14).map("\n".join)
FRAGMENTS = st.sampled_from(
    [
        "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "<iframe srcdoc='<script>'>",
        "<svg/onload=alert(1)>",
        "[x](javascript:alert(1))", "[x](data:text/html,<script>)", "![x](https://evil.example/p.png)",
        "<a href=javascript:x>",
        "$\\text{<img src=x onerror=alert(1)>}$", "$\\href{javascript:alert(1)}{x}$",
        "\\[\\style{position:fixed}{x}\\]", "```html\n",
        "```\"><script>\n", "\n```\n", "[a]: javascript:x\n", "[a]", "<javascript:alert(1)>", "&lt;script&gt;",
        "&#x6A;avascript:",
        "](", "`", "|", "\n|-|-|\n", "> ", "- ", "\n\n", "*", "$$", "\\", "\x00", "\ud800", "\u202e", "\r",
        "</math>", "<style>", "[^\"<]",
        "<!--", "-->", "<table>", "' onmouseover='", '" onclick="', "http://a.example/\"onx='",
    ]
)  # fmt: skip
NASTY = st.lists(FRAGMENTS | st.text(max_size=6), max_size=25).map("".join)


@st.composite
def split(draw, texts):
    """A text and the parts in which it arrives."""
    text = draw(texts)
    cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=12)))
    return text, [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
