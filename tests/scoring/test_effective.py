import math

import numpy as np
import pytest

from recallbench.scoring.effective import mean_intervals, sum_interval
from recallbench.scoring.intervals import Interval, is_too_short, wilson
from recallbench.scoring.judgement import Floats, Ints


def interval_of(values: Floats, clusters: Ints | None = None, *, binary: bool = True) -> Interval:
    (interval,) = mean_intervals(np.asarray(values, dtype=np.float64)[:, None], [binary], clusters)
    return interval


def test_the_jackknife_written_out() -> None:
    """Clusters (1, 1, 0), (0, 0), (1). Without each in turn: 1 of 3, 3 of 4, 2 of 5, which with half a hit and half a
    miss more are odds of .6, 7/3 and 5/7, whose logarithms sum to 0.

    Their squares sum to 1.092081; times 2/3 that is .853261 squared, times t(2) = 4.302653: 3.671285 on either side of
    a logit of 0.
    """
    interval = interval_of(np.array([1.0, 1, 0, 0, 0, 1]), np.array([0, 0, 0, 1, 1, 2]))
    assert interval.low == pytest.approx(1 / (1 + math.exp(3.671285)), abs=1e-6)
    assert interval.high == pytest.approx(1 / (1 + math.exp(-3.671285)), abs=1e-6)
    assert interval.method == "jackknife t(2) 95% over 3 clusters on the logit scale"
    assert interval.design_effect == pytest.approx(1.25)


def test_clusters_that_are_all_but_alike_are_luck() -> None:
    """A variance below half of what independent questions would have is not believed."""
    values, clusters = np.array([1.0, 1, 1, 0] * 50), np.repeat(np.arange(50), 4)
    values[0], values[3] = 0.0, 0.0
    interval, plain = interval_of(values, clusters), wilson(298, 400)
    assert (interval.low, interval.high) == (pytest.approx(plain.low), pytest.approx(plain.high))
    assert interval.design_effect is not None
    assert interval.design_effect < 0.1


def test_shares_of_independent_questions_get_wilsons_interval() -> None:
    assert interval_of(np.array([1.0, 1, 0, 1])) == wilson(3, 4)
    # As fractions they are what they are as hits and misses.
    interval = interval_of(np.array([1.0, 1, 0, 1]), binary=False)
    assert (interval.low, interval.high) == (pytest.approx(wilson(3, 4).low), pytest.approx(wilson(3, 4).high))


def test_fractions_count_as_the_trials_that_have_their_variance() -> None:
    """1, 1, .5, .5: with half a hit and half a miss the mean is .7, the variance 3 / 5 - .49 = .11, and .21 / .11 times
    four questions are 7.636 trials, of which .75 are hits."""
    interval, plain = interval_of(np.array([1.0, 1, 0.5, 0.5]), binary=False), wilson(0.75 * 84 / 11, 84 / 11)  # type: ignore[arg-type]
    assert (interval.low, interval.high) == (pytest.approx(plain.low), pytest.approx(plain.high))
    assert interval.method == "Wilson 95% over trials of the same variance"


def test_values_without_spread_still_have_an_interval() -> None:
    """30 times 1 is what 30 hits are; 30 times .1 has some width though nothing varied."""
    assert interval_of(np.ones(30), binary=False).low == pytest.approx(wilson(30, 30).low)
    tenth = interval_of(np.full(30, 0.1), binary=False)
    assert tenth.low is not None
    assert tenth.high is not None
    assert 0.06 < tenth.low < 0.08 < 0.13 < tenth.high < 0.16


def test_values_equal_but_for_rounding_have_no_design_effect() -> None:
    """.1 is no binary fraction: the residuals of 500 of them are rounding, and so was the ratio of their variances."""
    values = np.full(500, 0.1)
    values[::3] = 0.3 - 0.2
    assert np.ptp(values) > 0
    interval = interval_of(values, np.repeat(np.arange(10), 50), binary=False)
    assert interval == Interval(None, None, "n/a (all questions equal)")


def test_degenerate_samples_have_no_interval() -> None:
    assert mean_intervals(np.empty((0, 2)), [True, False], None) == [Interval(None, None, "n/a (no question)")] * 2
    assert interval_of(np.array([0.0, 1]), np.array([7, 7])) == Interval(None, None, "n/a (one cluster)")
    assert interval_of(np.array([0.0, 1, 0, 1]), np.array([0, 0, 1, 1])).method == "n/a (all clusters equal)"
    assert sum_interval(1.0, np.zeros(4), np.array([0, 0, 1, 1]), 0.0).method == "n/a (all questions equal)"


def test_a_sum_of_influences_has_the_interval_of_a_mean() -> None:
    values, clusters = np.random.default_rng(1).random(200), np.repeat(np.arange(8), 25)
    mean, variance = values.mean(), values.var(ddof=1) / 200
    interval, summed = (
        interval_of(values, clusters, binary=False),
        sum_interval(mean, (values - mean) / 200, clusters, variance),
    )
    # The trials of a mean are counted with half a hit and half a miss, those of a sum from its variance alone.
    assert (summed.low, summed.high) == (pytest.approx(interval.low, abs=1e-3), pytest.approx(interval.high, abs=1e-3))
    assert summed.design_effect == pytest.approx(interval.design_effect)


def test_an_interval_near_0_or_1_with_a_large_design_effect_is_too_short() -> None:
    assert is_too_short(0.961, 5.1)
    assert is_too_short(0.039, 5.1)
    assert not is_too_short(0.96, 50.0)
    assert not is_too_short(0.99, 5.0)
    assert not is_too_short(0.99, None)
    assert not is_too_short(None, None)
