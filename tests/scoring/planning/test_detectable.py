"""What n questions can see, held to the exact power of the test that `compare` makes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom

from recallbench.scoring.paired import paired
from recallbench.scoring.planning.detectable import (
    design_effect,
    detectable_drop,
    differing_by_chance,
    differing_seen,
    half_width,
)


def exact_power(n: int, differing: float, drop: float) -> float:
    """Return how often the exact test of pairs finds the drop at p <= .05, by every count of changed questions."""
    lost, gained = differing / 2 + drop, differing / 2
    power = 0.0
    for changed in range(n + 1):
        losses = np.arange(changed + 1)
        p = np.minimum(1.0, 2 * binom.sf(losses - 1, changed, 0.5))
        seen = (p <= 0.05) & (losses > changed / 2)
        power += binom.pmf(changed, n, lost + gained) * binom.pmf(losses[seen], changed, lost / (lost + gained)).sum()
    return power


@pytest.mark.parametrize("n", [100, 200, 300])
@pytest.mark.parametrize("differing", [0.02, 0.05, 0.1, 0.18])
def test_the_drop_is_seen_in_about_8_of_10_runs(n: int, differing: float) -> None:
    drop = detectable_drop(n, 0.9, differing)
    assert 0.74 <= exact_power(n, differing, drop) <= 0.84
    assert exact_power(n, differing, drop / 2) < 0.5


def test_the_drop_of_200_questions_of_which_a_tenth_differs() -> None:
    # 2.8 standard errors of (.1 + drop - drop squared) over 200, which is the drop itself.
    drop = detectable_drop(200, 0.9, 0.1)
    assert drop == pytest.approx(2.8016 * math.sqrt((0.1 + drop - drop**2) / 200), rel=0.03)
    assert round(drop, 3) == 0.086
    # The comparison of such pairs states the same.
    values = np.ones(200)
    second = values.copy()
    second[: round(200 * (0.05 + drop))] = 0
    first = values.copy()
    first[-10:] = 0
    assert paired(first, second).detectable == pytest.approx(drop, abs=0.002)


def test_clusters_and_a_design_effect_widen_it() -> None:
    alone = detectable_drop(200, 0.9, 0.1)
    wider = detectable_drop(200, 0.9, 0.1, clusters=10, effect=4.0)
    assert wider > 2 * alone
    # Without an effect it is t's quantiles that widen it: 2.262 + .883 standard errors for 1.96 + .842.
    assert 1.12 * alone < detectable_drop(200, 0.9, 0.1, clusters=10) < 1.2 * alone
    assert math.isnan(detectable_drop(200, 0.9, 0.1, clusters=5))
    assert math.isnan(detectable_drop(5, 0.3, 0.4))


def test_what_differs() -> None:
    assert differing_by_chance(0.9) == pytest.approx(0.18)
    first = np.array([1.0, 1, 1, 1, 0, 0, 1, 1, 1, 1])
    second = np.array([0.0, 0, 0, 1, 1, 0, 1, 1, 1, 1])
    # Three lost and one gained: one moved each way, and one more than was seen.
    assert differing_seen(first, second) == pytest.approx(0.3)


def test_the_figure_itself_and_its_design_effect() -> None:
    # Wilson's interval of 180 of 200 is .8507 to .9343.
    assert half_width(200, 0.9) == pytest.approx((0.93431 - 0.85066) / 2, abs=1e-4)
    assert half_width(200, 0.9, effect=4.0) == pytest.approx(half_width(50, 0.9))
    values = np.array([1.0, 1, 1, 1, 0, 0, 0, 0])
    assert design_effect(values, ["a"] * 4 + ["b"] * 4) > 4
    assert design_effect(values, [""] * 8) == 1.0
