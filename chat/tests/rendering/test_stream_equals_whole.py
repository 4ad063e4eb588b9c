"""However a text arrives, what is final and what is open together are the whole rendered at once."""

import pytest
from hypothesis import given, settings

from chat.rendering import RenderedStream, render, stream
from chat.rendering.stream import held
from chat.tests.rendering.strategies import NASTY, REPLIES, split


@pytest.fixture(autouse=True, scope="module")
def all_the_time_in_the_world():
    """A slow machine shows the open end less often; here it is looked at after every part."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stream, "FREE_SECONDS", 1e9)
        yield


def _follow(parts):
    """Yield the text so far and what a page shows of it after each part."""
    rendered, closed, text = RenderedStream(), "", ""
    for part in parts:
        patch = rendered.push(part)
        closed, text = closed + patch.closed, text + part
        yield text, closed + patch.open


def _assert_equal_at_every_part(parts):
    for text, shown in _follow(parts):
        assert shown == render(text[: len(text) - held(text)])


@settings(max_examples=100, deadline=None)
@given(split(REPLIES))
def test_in_random_parts(case):
    _assert_equal_at_every_part(case[1])


@settings(max_examples=25, deadline=None)
@given(REPLIES)
def test_character_by_character(text):
    _assert_equal_at_every_part(text)


@settings(max_examples=100, deadline=None)
@given(split(NASTY.filter(lambda text: "[a]" not in text)))
def test_whatever_is_in_it(case):
    _assert_equal_at_every_part(case[1])


@settings(max_examples=50, deadline=None)
@given(split(REPLIES | NASTY))
def test_finish_renders_everything_at_once(case):
    text, parts = case
    stream = RenderedStream()
    for part in parts:
        stream.push(part)
    assert stream.finish() == render(text)


def test_what_is_final_is_sent_once():
    stream = RenderedStream()
    patches = [stream.push(part) for part in ("One.\n\nTw", "o.\n\nThree", ".")]
    assert [patch.closed for patch in patches] == ["<p>One.</p>\n", "<p>Two.</p>\n", ""]
    assert patches[-1].open == "<p>Three.</p>\n"


def test_a_list_goes_on_when_its_next_number_has_only_half_arrived():
    stream = RenderedStream()
    assert stream.push("1. one\n\n2").closed == ""
    assert stream.push(". two").open.count("<li>") == 2


def test_an_address_given_later_is_used_at_the_end():
    stream = RenderedStream()
    stream.push("See [the docs].\n\nMore.\n\n")
    stream.push("[the docs]: https://example.org/docs")
    assert 'href="https://example.org/docs"' in stream.finish()


def test_an_address_given_earlier_is_used_at_once():
    stream = RenderedStream()
    stream.push("[docs]: https://example.org/docs\n\nText.\n\nText.\n\n")
    assert 'href="https://example.org/docs"' in stream.push("See [docs].").open
