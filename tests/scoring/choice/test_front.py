from __future__ import annotations

import numpy as np
import pytest

from recallbench.scoring.choice.front import front


def test_a_point_that_another_beats_is_not_on_the_front() -> None:
    values = np.array([[1.0] * 4, [0.9] * 4, [0.8] * 4, [0.9] * 4])
    # The fourth is as good as the second and slower; the third is worse and slower than the second, but free.
    found = front(values, [[9.0, 2.0, 3.0, 2.5], [1.0, 1.0, 0.0, 1.0]])
    assert found.points == (1, 2, 0)
    assert found.shares == (1.0, 1.0, 1.0, 0.0)
    assert front(values, [[9.0, 2.0, 3.0, 2.5]]).points == (1, 0)


def test_equal_points_are_both_on_the_front() -> None:
    assert front(np.ones((2, 3)), [[1.0, 1.0]]).points == (0, 1)


def test_a_share_says_in_how_many_draws_of_clusters_a_point_is_on_the_front() -> None:
    # The slower one is better in the first of two clusters and worse in the second by as much more:
    # of the draws (1,1), (1,2), (2,1), (2,2) only the first puts it ahead.
    values = np.array([[0.5, 0.5], [0.7, 0.2]])
    found = front(values, [[1.0, 2.0]], ["a", "b"])
    assert found.points == (0,)
    assert found.shares == (1.0, pytest.approx(0.25, abs=0.04))
    assert (found.clusters, found.resamples) == (2, 2000)


def test_prices_must_be_known_for_every_point() -> None:
    with pytest.raises(ValueError, match="prices"):
        front(np.ones((2, 3)), [[1.0, float("nan")]])
    with pytest.raises(ValueError, match="prices"):
        front(np.ones((2, 3)), [[1.0]])
