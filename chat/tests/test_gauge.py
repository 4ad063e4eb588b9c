"""The bar of a context: every token is drawn, and the words say how full it is."""

from types import SimpleNamespace

from chat.gauge import bar


def gauge(*parts, prompt=1536, high=1383, context=2048):
    return SimpleNamespace(parts=list(parts), prompt=prompt, high=high, context=context, reserve=context - prompt)


def test_the_segments_fill_the_context_without_gap_or_overlap():
    drawn = bar(gauge(("system", 30), ("summary", 300), ("turns", 600), ("message", 6)))
    assert [segment.kind for segment in drawn.segments] == ["system", "summary", "turns", "message", "free", "reserve"]
    assert sum(segment.num_tokens for segment in drawn.segments) == 2048
    ends = [float(segment.start[:-1]) + float(segment.width[:-1]) for segment in drawn.segments]
    starts = [float(segment.start[:-1]) for segment in drawn.segments]
    assert all(abs(end - start) < 0.02 for end, start in zip(ends, [*starts[1:], 100.0], strict=True))


def test_full_means_that_no_prompt_can_have_more():
    drawn = bar(gauge(("turns", 768)))
    assert drawn.words == "50 % of the context is used"
    assert drawn.figures == "768 of 1,536 tokens"
    assert not drawn.is_nearly_full
    full = bar(gauge(("turns", 1536)))
    assert full.words.startswith("100 %")
    assert full.is_nearly_full
    assert "free" not in [segment.kind for segment in full.segments]


def test_an_unknown_kind_is_drawn_under_its_own_name():
    assert bar(gauge(("tool_results", 5))).segments[0].label == "Tool results"
