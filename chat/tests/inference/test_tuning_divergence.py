"""The divergence is the formula's, on vectors small enough for pencil and paper."""

import numpy as np
import pytest

from chat.inference.tuning.divergence import compare


def logits(*rows):
    return np.log(np.array(rows, np.float32))


def test_equal_predictions_do_not_diverge():
    rows = logits((0.5, 0.25, 0.25), (0.1, 0.2, 0.7))
    assert compare(rows, rows).kl == pytest.approx(0, abs=1e-7)
    assert compare(rows, rows).same_top == 1


def test_it_is_the_mean_of_the_rows():
    found = compare(logits((0.5, 0.5), (0.5, 0.5)), logits((0.25, 0.75), (0.5, 0.5)))
    by_hand = 0.5 * np.log(0.5 / 0.25) + 0.5 * np.log(0.5 / 0.75)
    assert found.kl == pytest.approx(by_hand / 2, abs=1e-6)


def test_adding_the_same_to_all_logits_changes_nothing():
    rows = logits((0.5, 0.25, 0.25))
    assert compare(rows, rows + 1000).kl == pytest.approx(0, abs=1e-4)


def test_the_likeliest_tokens_are_counted():
    assert compare(logits((0.6, 0.4), (0.6, 0.4)), logits((0.4, 0.6), (0.7, 0.3))).same_top == 0.5


def test_many_rows_count_alike():
    rows = logits(*[(0.5, 0.5)] * 99, (0.9, 0.1))
    other = logits(*[(0.5, 0.5)] * 99, (0.1, 0.9))
    assert compare(rows, other).kl == pytest.approx(0.8 * np.log(9) / 100, abs=1e-6)


@pytest.mark.parametrize("wrong", [np.full((1, 2), np.nan, np.float32), np.zeros((2, 2), np.float32)])
def test_what_is_no_prediction_is_refused(wrong):
    with pytest.raises(ValueError, match=r"no numbers|shape"):
        compare(logits((0.5, 0.5)), wrong)
