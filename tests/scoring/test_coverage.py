"""The coverage of 95% intervals of a mean, simulated with fixed seeds: a table for clusters and two without.

Wanted: .93 to .97 with ten clusters of LoCoMo's sizes, at an intraclass correlation of .1 up to a mean of .95, and at
least .91 at .974; at least .925 for independent questions, where counts are so few that more than .97 can't be helped.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from recallbench.scoring.editions import CURRENT, FIRST
from recallbench.scoring.effective import jackknifed, mean_intervals
from recallbench.scoring.intervals import Interval, is_too_short
from recallbench.scoring.judgement import Floats

SIZES = np.array([197, 105, 193, 260, 242, 158, 190, 239, 196, 202])
"""Questions with evidence by conversation of LoCoMo (held to the committed result in test_statistics)."""
CODES = np.repeat(np.arange(10), SIZES)
MEANS = (0.5, 0.8, 0.9, 0.95, 0.974, 0.99)


def share(intervals: list[Interval], truth: float) -> float:
    """Return the share of intervals that contain the truth; a missing interval does not."""
    return float(
        np.mean(
            [
                interval.low is not None and interval.high is not None and interval.low <= truth <= interval.high
                for interval in intervals
            ]
        )
    )


# Clusters


def hits(rng: np.random.Generator, mean: float, icc: float, draws: int) -> Floats:
    """Return hits by conversation of LoCoMo (conversations x draws), from a beta-binomial."""
    if not icc:
        return rng.binomial(SIZES[:, None], mean, (10, draws)).astype(float)
    a = (1 - icc) / icc
    return rng.binomial(SIZES[:, None], rng.beta(mean * a, (1 - mean) * a, (10, draws))).astype(float)


def of_hits(hits_by_cluster: Floats) -> list[Interval]:
    """The intervals that `mean_intervals` gives for these hits, by their sums alone."""
    n = SIZES.sum()
    means = hits_by_cluster.sum(axis=0) / n
    totals = (hits_by_cluster - means * SIZES[:, None]) / n
    return jackknifed(means, totals, SIZES, means * (1 - means) / (n - 1), np.full(hits_by_cluster.shape[1], float(n)))


def test_an_interval_depends_on_sums_by_cluster_alone() -> None:
    hits_by_cluster = hits(np.random.default_rng(1), 0.9, 0.02, 3)
    values = np.column_stack(
        [
            np.concatenate([np.arange(size) < hit for size, hit in zip(SIZES, column, strict=True)])
            for column in hits_by_cluster.T
        ]
    ).astype(float)
    for interval, expected in zip(mean_intervals(values, [True] * 3, CODES), of_hits(hits_by_cluster), strict=True):
        assert (interval.low, interval.high) == (pytest.approx(expected.low), pytest.approx(expected.high))
        assert interval.design_effect == pytest.approx(expected.design_effect)


def required(mean: float, icc: float) -> tuple[float, float]:
    return (0.93, 0.97) if icc < 0.1 or mean <= 0.95 else (0.91, 0.97) if mean <= 0.974 else (0.0, 0.97)


@pytest.mark.marked
@pytest.mark.parametrize("icc", [0.0, 0.02, 0.1])
def test_intervals_over_ten_conversations_cover(icc: float) -> None:
    """10,000 draws each: a simulation error of .0022."""
    rng = np.random.default_rng(20)
    for mean in MEANS:
        intervals = of_hits(hits(rng, mean, icc, 10_000))
        covered = share(intervals, mean)
        print(f"ICC {icc}, mean {mean}: {covered:.3f}")
        low, high = required(mean, icc)
        assert low <= covered <= high, (mean, icc)
        if low == 0:
            # So few clusters bear no better interval; then a result says that it is too short.
            assert np.mean([is_too_short(0.99, interval.design_effect) for interval in intervals]) > 0.5


def test_few_clusters_near_1_hold_the_truth_where_the_first_edition_did_not() -> None:
    rng = np.random.default_rng(21)
    for icc, low in ((0.02, 0.93), (0.1, 0.91)):
        hits_by_cluster = hits(rng, 0.974, icc, 4000)
        assert low <= share(of_hits(hits_by_cluster), 0.974) <= 0.97
        values = np.column_stack(
            [
                np.concatenate([np.arange(size) < hit for size, hit in zip(SIZES, column, strict=True)])
                for column in hits_by_cluster.T[:300]
            ]
        ).astype(float)
        assert share(FIRST.means(values, [True] * 300, CODES), 0.974) < low


@pytest.mark.marked
@pytest.mark.parametrize("icc", [0.0, 0.02, 0.1])
@pytest.mark.parametrize("mean", [0.8, 0.9, 0.95])
def test_intervals_of_fractions_over_ten_conversations_cover(mean: float, icc: float) -> None:
    """Reciprocal ranks of 1 and 1/2, whose questions share the luck of their conversation: an error of .0049."""
    rng = np.random.default_rng(22)
    first, draws = 2 * mean - 1, 500
    intervals: list[Interval] = []
    for _ in range(4):
        a = (1 - icc) / icc if icc else 0.0
        chances = rng.beta(first * a, (1 - first) * a, (10, draws)) if icc else np.full((10, draws), first)
        values = np.where(rng.random((len(CODES), draws)) < chances[CODES], 1.0, 0.5)
        intervals += mean_intervals(values, [False] * draws, CODES)
    assert 0.93 <= share(intervals, mean) <= 0.97


# Independent questions

NS = (30, 60, 133, 499)
Draw = Callable[[np.random.Generator, float, tuple[int, int]], Floats]


def reciprocal_ranks(rng: np.random.Generator, mean: float, shape: tuple[int, int]) -> Floats:
    """1 / rank, where the gold segment is next with the same chance at each place, 0 beyond the 50th."""
    ranks = np.arange(1, 51)
    low, high = 1e-6, 1.0
    for _ in range(60):
        chance = (low + high) / 2
        low, high = (chance, high) if (chance * (1 - chance) ** (ranks - 1) / ranks).sum() < mean else (low, chance)
    chances = chance * (1 - chance) ** (ranks - 1)
    return rng.choice(np.append(1 / ranks, 0.0), shape, p=np.append(chances, 1 - chances.sum()))


def first_or_late(rng: np.random.Generator, mean: float, shape: tuple[int, int]) -> Floats:
    """1 / rank, where what is not first is anywhere from 2 to 50."""
    late = 1 / rng.integers(2, 51, shape)
    expected = (1 / np.arange(2, 51)).mean()
    return np.where(rng.random(shape) < (1 - mean) / (1 - expected), late, 1.0)


def shares_of_gold(rng: np.random.Generator, mean: float, shape: tuple[int, int]) -> Floats:
    """recall_frac: of one to four gold segments, most often one."""
    gold = rng.choice([1, 2, 3, 4], shape, p=[0.75, 0.12, 0.08, 0.05])
    return np.asarray(rng.binomial(gold, mean) / gold)


def dependent_shares_of_gold(rng: np.random.Generator, mean: float, shape: tuple[int, int]) -> Floats:
    """The same, where an easy question is easy for all of its gold."""
    gold = rng.choice([1, 2, 3, 4], shape, p=[0.4, 0.3, 0.2, 0.1])
    return np.asarray(rng.binomial(gold, rng.beta(2 * mean, 2 * (1 - mean), shape)) / gold)


def anything(rng: np.random.Generator, mean: float, shape: tuple[int, int]) -> Floats:
    """Beta, as of nDCG over graded segments."""
    return rng.beta(2 * mean, 2 * (1 - mean), shape)


DRAWN = (reciprocal_ranks, first_or_late, shares_of_gold, dependent_shares_of_gold, anything)


@pytest.mark.parametrize("n", NS)
def test_intervals_of_independent_shares_cover(n: int) -> None:
    """Not simulated: the chance of each count is summed up."""
    from scipy.stats import binom

    values = (np.arange(n)[:, None] < np.arange(n + 1)).astype(float)
    intervals = CURRENT.means(values, [True] * (n + 1), None)
    for mean in (*MEANS, *(1 - high for high in MEANS)):
        covering = [
            interval.low is not None and interval.high is not None and interval.low <= mean <= interval.high
            for interval in intervals
        ]
        assert float(binom.pmf(np.arange(n + 1), n, mean)[covering].sum()) >= 0.925, mean


@pytest.mark.marked
@pytest.mark.parametrize("n", NS)
@pytest.mark.parametrize("draw", DRAWN, ids=lambda draw: draw.__name__)
def test_intervals_of_independent_fractions_cover(draw: Draw, n: int) -> None:
    """2,000 draws each: a simulation error of .0049."""
    rng = np.random.default_rng(24)
    coverages = []
    for mean in MEANS:
        covered = share(mean_intervals(draw(rng, mean, (n, 2000)), [False] * 2000, None), mean)
        coverages.append(f"{covered:.3f}")
        assert covered >= 0.925, (mean, covered)
    print(f"{draw.__name__}, n = {n}: {' '.join(coverages)}")


def test_few_fractions_near_1_hold_the_truth_where_the_bootstrap_did_not() -> None:
    values = dependent_shares_of_gold(np.random.default_rng(25), 0.9, (30, 2000))
    assert share(mean_intervals(values, [False] * 2000, None), 0.9) >= 0.935
    values = anything(np.random.default_rng(25), 0.9, (30, 2000))
    assert share(mean_intervals(values, [False] * 2000, None), 0.9) >= 0.935
    assert share(FIRST.means(values, [False] * 2000, None), 0.9) < 0.91
