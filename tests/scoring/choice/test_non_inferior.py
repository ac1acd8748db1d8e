from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from recallbench.scoring.choice.non_inferior import non_inferior
from scoring.choice.drawn_sweeps import drawn_sweep


def test_the_fastest_of_what_is_not_worse_by_the_margin_is_chosen() -> None:
    # Six clusters. The second is .01 below the best, the third .1, the fourth .03: the margin is .04.
    values = np.array([[0.9] * 6, [0.89] * 6, [0.8] * 6, [0.87] * 6])
    found = non_inferior(values, [9.0, 5.0, 1.0, 3.0], 0.04)
    assert (found.chosen, found.shown, found.best) == (3, True, 0)
    assert found.non_inferior == (0, 1, 3)
    assert found.differences == pytest.approx((0.0, -0.01, -0.1, -0.03))
    assert (found.smallest_p, found.clusters, found.confidence) == (1 / 64, 6, 0.95)
    assert found.method == "all 64 sign flips of 6 questions, against every other point"


def test_p_of_two_points_is_that_of_every_flip() -> None:
    first, second, margin = np.array([1.0, 0.8, 0.9, 1.0]), np.array([0.9, 0.9, 0.85, 0.9]), 0.08
    raised = second - first + margin
    sums = [float(raised @ np.array(signs)) for signs in product((1, -1), repeat=4)]
    expected = np.mean([total >= raised.sum() - 1e-12 for total in sums])
    found = non_inferior(np.array([first, second]), [2.0, 1.0], margin)
    assert found.ps[1] == expected == 5 / 16


def test_p_is_corrected_for_the_other_points() -> None:
    # Against the first the second is .1 above the margin in each of four clusters: alone 1 flip of 16. The third is
    # less above it on the whole, but by more than that under other flips.
    margin, second, third = 0.05, np.full(4, 0.1), np.array([0.3, -0.2, 0.3, -0.2])
    values = np.stack([np.zeros(4), second - margin, third - margin])
    flips = [np.array(signs) for signs in product((1, -1), repeat=4)]
    expected = np.mean([max(second @ signs, third @ signs) >= second.sum() - 1e-12 for signs in flips])
    assert expected == 6 / 16
    assert non_inferior(values[:2], [1.0, 2.0], margin).ps[1] == 1 / 16
    assert non_inferior(values, [1.0, 2.0, 3.0], margin).ps[1] == expected


def test_where_nothing_can_be_shown_the_best_is_chosen_and_it_is_said() -> None:
    found = non_inferior(np.array([[0.9] * 4, [0.9] * 4]), [2.0, 1.0], 0.5)
    assert (found.chosen, found.shown, found.non_inferior, found.smallest_p) == (1, False, (), 1 / 16), "the faster one"


def test_a_margin_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="margin of 0"):
        non_inferior(np.ones((2, 6)), [1.0, 2.0], 0.0)


@pytest.mark.marked
@pytest.mark.parametrize(("truth", "margin"), [(0.6, 0.0885), (0.9, 0.0210)])
def test_a_point_that_is_worse_by_the_margin_is_shown_in_at_most_one_of_twenty(truth: float, margin: float) -> None:
    """Twenty points lie below the best by just the margin, in truth: the luckiest must not pass."""
    # On the normal scale of a drawn sweep, whose deviation is sqrt(1.5^2 + .4^2 + .3^2 + .1^2), hits differ by so much.
    wrong = 0
    for sweep in range(150):
        values, names = drawn_sweep(np.random.default_rng([9, sweep]), np.r_[1.0, np.full(20, truth)], 10, 150)
        found = non_inferior(values, range(21), margin, names)
        wrong += any(point > 0 for point in found.non_inferior)
    assert wrong / 150 <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 150)


def test_points_far_below_do_not_hide_one_that_is_as_good() -> None:
    values, names = drawn_sweep(np.random.default_rng(1), np.r_[1.0, 1.0, np.full(10, -0.8)], 10)
    assert non_inferior(values, range(12), 0.1, names).non_inferior == (0, 1)
