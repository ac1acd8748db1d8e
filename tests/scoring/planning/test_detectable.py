"""What n questions can see, held to the exact power of the test that `compare` makes."""

from __future__ import annotations

import math

import numpy as np
import pytest

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
    from scipy.stats import binom

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
    wider = detectable_drop(200, 0.9, 0.1, [20] * 10, effect=4.0)
    assert wider > 2 * alone
    # Without an effect it is the sign flips of ten that widen it.
    assert 1.12 * alone < detectable_drop(200, 0.9, 0.1, [20] * 10) < 1.4 * alone
    # Where one of ten holds half of the questions, far more.
    assert detectable_drop(200, 0.9, 0.1, [110, *[10] * 9]) > 1.4 * detectable_drop(200, 0.9, 0.1, [20] * 10)
    # Over many clusters t's quantiles tell it: of 39 degrees of freedom 2.023 + .851 standard errors for 1.96 + .842.
    assert detectable_drop(200, 0.9, 0.1, [5] * 40) == pytest.approx(alone * 1.03, rel=0.02)
    assert math.isnan(detectable_drop(200, 0.9, 0.1, [40] * 5))
    assert math.isnan(detectable_drop(5, 0.3, 0.4))


def total_chances(each: int, differing: float, drop: float) -> dict[int, float]:
    """Return the chance of every total of a cluster, lost minus won, where its questions move independently."""
    one = [differing / 2, 1 - differing - drop, differing / 2 + drop]
    chances = np.ones(1)
    for _ in range(each):
        chances = np.convolve(chances, one)
    return dict(zip(range(-each, each + 1), chances.tolist(), strict=True))


def power_of_6(chance: dict[int, float]) -> float:
    """All six have to lose: with 2 of 64 sign flips as far p is .031, with 4 of 64 it is .0625."""
    return sum(share for total, share in chance.items() if total > 0) ** 6


def power_of_7(chance: dict[int, float]) -> float:
    """Up to 6 of 128 sign flips may be as far: one cluster may gain, where at most one other loses no more."""
    losing = sum(share for total, share in chance.items() if total > 0)
    power = losing**7
    for total, share in chance.items():
        if total <= 0:
            small = sum(chance[lost] for lost in range(1, -total + 1))
            power += 7 * share * ((losing - small) ** 6 + 6 * small * (losing - small) ** 5)
    return power


@pytest.mark.parametrize("each", [10, 17, 33])
@pytest.mark.parametrize("differing", [0.05, 0.18])
def test_the_drop_of_six_and_seven_scopes_is_seen_in_8_of_10_runs(each: int, differing: float) -> None:
    for scopes, power in ((6, power_of_6), (7, power_of_7)):
        drop = detectable_drop(scopes * each, 0.9, differing, [each] * scopes)
        assert 0.77 <= power(total_chances(each, differing, drop)) <= 0.85
        # What the quantiles of t call seen in 8 of 10 runs is seen in far fewer.
        assert power(total_chances(each, differing, drop * 0.8)) < 0.7


@pytest.mark.parametrize(
    ("sizes", "effect"), [([25] * 8, 1.0), ([20] * 10, 3.0), ([40, 30, 20, 10, 10, 10, 5, 5], 2.0)]
)
def test_the_drop_of_more_scopes_is_seen_by_the_comparison_itself(sizes: list[int], effect: float) -> None:
    drop = detectable_drop(sum(sizes), 0.9, 0.18, sizes, effect)
    chance = np.random.default_rng(7)
    found = 0
    for _ in range(400):
        # What a scope has of its own, as far as the design effect says, and then each question by itself.
        moved, names = [], []
        variance = 0.18 + drop - drop**2
        for i, size in enumerate(sizes):
            own = chance.normal(0, math.sqrt(variance * (effect - 1) / size)) if effect > 1 else 0.0
            lost, won = ((0.18 + drop + sign * (drop + own)) / 2 for sign in (1, -1))
            draws = chance.random(size)
            moved += np.where(draws < lost, -1.0, np.where(draws < lost + won, 1.0, 0.0)).tolist()
            names += [f"s{i}"] * size
        values = np.array(moved)
        compared = paired((values < 0) * 1.0, (values > 0) * 1.0, names)
        found += compared.test.p <= 0.05 and compared.difference < 0
    # 400 runs tell a share of .8 to .04.
    assert 0.74 <= found / 400 <= 0.86


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
