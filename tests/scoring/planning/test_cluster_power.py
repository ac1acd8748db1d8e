"""The power of few clusters: the same decision as the test of a comparison, outcome by outcome."""

from __future__ import annotations

import numpy as np
import pytest

from recallbench.scoring.planning.cluster_power import ClusterPower, seen
from recallbench.scoring.sign_flips import sign_flip_tests


@pytest.mark.parametrize("clusters", [2, 5, 6, 7, 9, 12])
def test_it_decides_as_the_sign_flips_do(clusters: int) -> None:
    totals = np.rint(np.random.default_rng(3).normal(2.0, 2.5, (200, clusters)))
    tests = sign_flip_tests(totals.T)
    expected = [bool(test.p <= 0.05 and row.sum() > 0) for test, row in zip(tests, totals, strict=True)]
    assert seen(totals).tolist() == expected
    assert any(expected) == (clusters >= 6)


def test_six_have_to_move_alike() -> None:
    totals = np.array([[1.0, 2, 3, 4, 5, 6], [0.0, 2, 3, 4, 5, 6], [-1.0, 2, 3, 4, 5, 60], [-1.0, -1, -1, -1, -1, -1]])
    assert seen(totals).tolist() == [True, False, False, False]


def test_a_greater_drop_is_seen_more_often() -> None:
    power = ClusterPower([20] * 10, 0.18, 1.0)
    assert power.of(0.0) < 0.05
    assert power.of(0.05) < power.of(0.1) < power.of(0.2)
    assert power.of(0.5) == 1.0
    with pytest.raises(ValueError, match="21 clusters are not all enumerated"):
        ClusterPower([5] * 21, 0.18, 1.0).of(0.1)
