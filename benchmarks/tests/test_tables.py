"""Ratios are taken turn by turn, and a bound is met or it is said that it is not."""

import pytest

from benchmarks import tables
from benchmarks.comparing import Comparison
from benchmarks.targets import WORKS, Target

FIRST = Target("time to first token", "first", "s", same=0.6, tuned=0.3)
SPEED = Target("tokens a second", "speed", "tokens/s", same=1.0)


def test_the_ratio_is_the_median_of_the_turns_and_not_of_the_figures():
    # The machine was ten times slower in the second turn, for both.
    comparison = Comparison(FIRST, ours=[1.0, 10.0, 1.0], peer=[2.0, 20.0, 1.0])
    assert comparison.ratio(comparison.ours) == 0.5


def test_less_time_and_more_tokens_are_better():
    assert FIRST.is_met(0.6, 0.6)
    assert not FIRST.is_met(0.61, 0.6)
    assert SPEED.is_met(1.0, 1.0)
    assert not SPEED.is_met(0.99, 1.0)


def test_what_is_missed_is_named_once_for_each_kind_of_weights():
    good = Comparison(SPEED, ours=[120.0], peer=[100.0])
    bad = Comparison(FIRST, ours=[0.7], peer=[1.0], tuned=[0.4])
    assert tables.missed([good, bad]) == [FIRST.title, FIRST.title]
    assert tables.missed([good]) == []


def test_a_table_shows_figures_ratio_spread_bound_and_verdict():
    rows = tables.comparison_rows([Comparison(FIRST, ours=[0.5, 0.7], peer=[1.0, 1.0])])
    assert rows[1] == [FIRST.title, "1.00 s", "600 ms", "0.60 (0.50 to 0.70)", "<= 0.6", "met"]


def test_columns_of_prepared_weights_come_only_where_they_were_measured():
    with_tuned = tables.comparison_rows(
        [Comparison(FIRST, [0.5], [1.0], [0.4]), Comparison(SPEED, [1.0], [1.0], [2.0])]
    )
    assert [len(row) for row in with_tuned] == [10, 10, 10]
    assert with_tuned[1][6:] == ["400 ms", "0.40", "<= 0.3", "NOT met"]
    assert with_tuned[2][8:] == ["", ""]  # no bound, no verdict


def test_text_stands_in_columns():
    assert tables.as_text([["a", "bb"], ["ccc", "d"]]) == "a    bb\nccc  d"


def test_markdown_takes_the_place_of_the_table_before(tmp_path):
    file = tmp_path / "page.md"
    file.write_text("above\n<!-- peer -->\nold\n<!-- end of peer -->\nbelow\n")
    for _ in range(2):
        tables.update(file, "peer", tables.as_markdown([["a", "b"], ["1\\2", "2"]]))
    assert file.read_text() == (
        "above\n<!-- peer -->\n| a | b |\n|---|---|\n| 1\\2 | 2 |\n<!-- end of peer -->\nbelow\n"
    )


def test_a_page_without_a_place_is_left_alone(tmp_path):
    file = tmp_path / "page.md"
    file.write_text("nothing here\n")
    with pytest.raises(ValueError, match="no place"):
        tables.update(file, "peer", "table")
    assert file.read_text() == "nothing here\n"


def test_every_work_has_a_name_of_its_own_and_targets_with_titles_of_their_own():
    assert len({work.name for work in WORKS}) == len(WORKS)
    titles = [target.title for work in WORKS for target in work.targets]
    assert len(set(titles)) == len(titles)
