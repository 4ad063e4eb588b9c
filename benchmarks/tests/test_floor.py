"""Over HTTP those moments count in which every reply was being written."""

import pytest

from benchmarks.client import Reply
from benchmarks.floor import LEAST, floor_rows, share, speed_together


def test_only_the_time_counts_in_which_all_were_writing():
    early = Reply(times=[0.0, 1.0, 2.0, 3.0, 4.0], completion_tokens=5)
    late = Reply(times=[2.0, 2.5, 3.0, 3.5, 4.0, 4.5], completion_tokens=6)
    # From 2 to 4: two tokens of the one, four of the other.
    assert speed_together([early, late]) == 3.0


def test_a_piece_of_several_tokens_counts_as_such():
    assert speed_together([Reply(times=[0.0, 1.0, 2.0], completion_tokens=6)]) == 2.0


def test_the_share_is_the_median_of_the_turns():
    assert share([[100.0, 97.0], [10.0, 9.0], [50.0, 48.0]]) == 0.96


@pytest.mark.parametrize(("over", "verdict"), [(100 * LEAST, "met"), (94.0, "NOT met")])
def test_the_verdict_is_told(over, verdict):
    [_, row] = floor_rows({4: [[100.0, over]]})
    assert row[0] == "4"
    assert row[-1] == verdict
