"""A fence that arrives piece by piece never flips between text and code (cases 10, 11, 12)."""

from chat.rendering import RenderedStream, render

REPLY = "Here:\n\n```python\ncost = '$1'\n```\n\nDone."


def test_the_block_appears_once_and_with_its_language():
    stream, shown, closed = RenderedStream(), [], ""
    for character in REPLY:
        patch = stream.push(character)
        closed += patch.closed
        shown.append(closed + patch.open)
    assert not any("`" in html for html in shown)
    with_code = ['class="code"' in html for html in shown]
    assert with_code == sorted(with_code)
    assert all('<span class="code-lang">python</span>' in html for html in shown if 'class="code"' in html)


def test_a_closing_fence_is_not_in_the_code():
    html = render("```\necho hi\n```")
    assert "<pre><code>echo hi</code></pre>" in html
    assert "`" not in html


def test_an_open_fence_is_literal_while_open_and_after_a_stop():
    stream = RenderedStream()
    patch = stream.push("```py\ncost=$1; re=\\(a\\); <answer>")
    for html in (patch.open, stream.finish()):
        assert "<pre><code>cost=$1; re=\\(a\\); &lt;answer&gt;</code></pre>" in html
        assert "<math" not in html


def test_inline_code_at_the_start_of_a_line_is_not_held():
    assert RenderedStream().push("`x`").open == "<p><code>x</code></p>\n"
