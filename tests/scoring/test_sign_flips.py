from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest

from recallbench.scoring.intervals import clustered
from recallbench.scoring.judgement import Floats
from recallbench.scoring.paired import paired_columns
from recallbench.scoring.sign_flips import FLIPS, mean_intervals, sign_flip_tests


def sign_flips(totals: Floats):
    return sign_flip_tests(totals[:, None])[0]


def test_three_clusters_have_eight_flips() -> None:
    # Sums of ±3 ±2 ±1: 6 4 2 0 0 -2 -4 -6. All moved the same way: 2 of 8.
    test = sign_flips(np.array([3.0, 2.0, 1.0]))
    assert (test.p, test.smallest_p, test.method) == (0.25, 0.25, "all 8 sign flips")
    # 3 + 2 - 1 = 4: reached by 6, 4, -4 and -6.
    assert sign_flips(np.array([3.0, 2.0, -1.0])).p == 0.5
    # 3 - 2 - 1 = 0: every flip is as far.
    assert sign_flips(np.array([3.0, -2.0, -1.0])).p == 1.0


def test_ten_conversations_reach_one_in_512() -> None:
    test = sign_flips(np.arange(1.0, 11.0))
    assert test.p == test.smallest_p == 2 / 1024


def test_a_cluster_that_does_not_differ_is_no_evidence() -> None:
    test = sign_flips(np.array([3.0, 0.0, 2.0, 0.0, 1.0]))
    assert (test.p, test.smallest_p, test.method) == (0.25, 0.25, "all 8 sign flips")


def test_equal_systems_have_a_p_of_1() -> None:
    test = sign_flips(np.zeros(10))
    assert (test.p, test.smallest_p, test.method) == (1.0, 1.0, "no cluster differs")


def test_equal_sums_count_although_rounding_parts_them() -> None:
    # .1 + .2 - .3 is 5.6e-17 in floating point and 0 on paper, as far from 0 as any.
    assert sign_flips(np.array([0.1, 0.2, -0.3])).p == 1.0
    # .1 + .2 + .3 against .3 + .2 + .1 with a sum that was taken in another order.
    assert sign_flips(np.array([0.1, 0.7, 0.2, 0.3])).p == 2 / 16


@pytest.mark.parametrize("n", range(1, 13))
def test_p_of_up_to_twelve_clusters_is_that_of_counting_every_flip(n: int) -> None:
    """Counted in whole numbers, where equal sums are equal: ties abound among thirds of reciprocal ranks."""
    draw = np.random.default_rng(n)
    for _ in range(6):
        wholes = [int(integer) for integer in draw.integers(-5, 6, n)]
        sums = [
            sum(sign * whole for sign, whole in zip(signs, wholes, strict=True)) for signs in product((-1, 1), repeat=n)
        ]
        expected = Fraction(sum(abs(total) >= abs(sum(wholes)) for total in sums), 2**n)
        assert sign_flips(np.array(wholes) / 3).p == pytest.approx(float(expected), abs=1e-15)


def test_beyond_twenty_clusters_flips_are_drawn() -> None:
    exact, drawn = sign_flips(np.ones(20)), sign_flips(np.ones(21))
    assert (exact.p, exact.method) == (2 / 2**20, "all 1,048,576 sign flips")
    # No random flip reaches a sum that 2 in 2^21 reach: b = 0.
    assert (drawn.p, drawn.smallest_p) == (1 / 10_000, 1 / (FLIPS + 1))
    assert drawn.method == "9,999 random sign flips, seed 42"


def test_drawn_flips_agree_with_the_binomial_and_repeat() -> None:
    # 20 wins, 10 losses: P(|X - 15| >= 5) for X ~ B(30, 1/2) is .0987.
    totals = np.array([1.0] * 20 + [-1.0] * 10)
    test = sign_flips(totals)
    assert test.p == pytest.approx(0.0987, abs=0.01)
    assert sign_flips(totals) == test


def test_under_no_difference_p_is_as_small_as_promised() -> None:
    draw = np.random.default_rng(7)
    ps = np.array([sign_flips(draw.normal(size=8)).p for _ in range(2000)])
    for level in (0.05, 0.2, 0.5):
        assert (ps <= level).mean() <= level + 4 * np.sqrt(level * (1 - level) / 2000)
    assert (ps <= 0.5).mean() > 0.45


def test_the_interval_is_a_rank_among_the_means_of_all_sets_of_clusters() -> None:
    totals, counts = np.array([3.0, -1.0, 4.0, 1.0, -5.0, 9.0, 2.0]), np.array([4, 2, 8, 1, 5, 10, 3])
    every = [list(some) for size in range(1, 8) for some in combinations(range(7), size)]
    means = sorted(totals[some].sum() / counts[some].sum() for some in every)
    (interval,) = mean_intervals(totals[:, None], counts)
    # 128 flips: three may lie beyond each end, and the flip of none is always one of them.
    assert (interval.low, interval.high) == pytest.approx((means[2], means[-3]))
    assert interval.method == "95% by 128 sign flips of 7 clusters"


@pytest.mark.parametrize("groups", [6, 7, 10, 12, 21])
def test_the_interval_excludes_0_where_p_is_below_05_and_only_there(groups: int) -> None:
    draw = np.random.default_rng(groups)
    counts = draw.integers(1, 50, groups)
    totals = draw.normal(0.6, 1, (groups, 200)) * np.sqrt(counts)[:, None]
    outside = []
    for interval, column in zip(mean_intervals(totals, counts), totals.T, strict=True):
        assert interval.low is not None
        assert interval.high is not None
        outside.append(not interval.low <= 0 <= interval.high)
        assert outside[-1] == (sign_flips(column).p <= 0.05)
    assert 0.1 < np.mean(outside) < 0.9


def test_fewer_than_six_clusters_have_no_interval() -> None:
    # All five moved alike: 2 of 32 flips are as far, and .0625 is no .05.
    (interval,) = mean_intervals(np.array([[1.0], [2.0], [1.0], [3.0], [1.0]]), np.full(5, 10))
    assert (interval.low, interval.high) == (None, None)
    assert interval.method == "n/a (5 clusters: sign flips reach no p of .05 below 6)"
    (alone,) = mean_intervals(np.array([[1.0]]), np.array([10]))
    assert alone.method == "n/a (one cluster: sign flips reach no p of .05 below 6)"


def test_clusters_that_moved_alike_have_no_interval() -> None:
    counts = np.array([3, 5, 7, 2, 4, 6])
    (interval,) = mean_intervals((0.1 * counts)[:, None], counts)
    assert (interval.low, interval.high, interval.method) == (None, None, "n/a (all clusters equal)")


def test_a_cluster_with_nearly_all_questions_decides_no_more_than_its_one_sign() -> None:
    # It fell by .1, five small ones rose: each set of clusters with it has a mean near -.1, each without it above 0.
    counts = np.array([950, 10, 10, 10, 10, 10])
    (interval,) = mean_intervals(np.array([[-95.0], [1.0], [2.0], [1.0], [2.0], [3.0]]), counts)
    assert (interval.low, interval.high) == pytest.approx((-0.1, 0.3))


# What the interval promises where clusters are unequal, simulated: one of ten has this share of 1,000 questions

DRAWS = 2000
MOST_FALSE = 0.025 + 2 * (0.025 * 0.975 / DRAWS) ** 0.5
"""2.5%, and two standard errors of the simulation."""
SHARES = [0.1, 0.3, 0.5, 0.7, 0.9]


def sizes(share: float) -> list[int]:
    rest = round(1000 * (1 - share))
    return [1000 - rest, *(rest // 9 + (i < rest % 9) for i in range(9))]


def drawn(share: float, drop: float, rng: np.random.Generator) -> tuple[list[str], Floats, Floats]:
    """Clusters, and two systems of one quality (but for the drop), each of which every cluster suits by chance."""
    codes = np.repeat(np.arange(10), sizes(share))
    sides = []
    for quality in (0.8, 0.8 - drop):
        luck = rng.normal(quality, 0.06, (10, DRAWS))[codes]
        sides.append((rng.random(luck.shape) < luck).astype(float))
    return [str(code) for code in codes], sides[0], sides[1]


@pytest.mark.parametrize("share", SHARES)
def test_chance_is_called_a_drop_in_at_most_one_comparison_of_forty(share: float) -> None:
    names, first, second = drawn(share, 0.0, np.random.default_rng(19))
    columns = paired_columns(first, second, names)
    fell = np.mean([column.high is not None and column.high < 0 for column in columns])
    rose = np.mean([column.low is not None and column.low > 0 for column in columns])
    assert max(fell, rose) <= MOST_FALSE
    assert min(fell, rose) >= 0.01  # a rule that never fails is no better


@pytest.mark.parametrize("share", SHARES[::2])
def test_a_drop_at_the_threshold_is_called_excluded_in_at_most_one_of_forty(share: float) -> None:
    names, first, second = drawn(share, 0.03, np.random.default_rng(20))
    columns = paired_columns(first, second, names)
    assert np.mean([column.low is not None and column.low > -0.03 for column in columns]) <= MOST_FALSE


def test_t_would_call_chance_a_drop_where_one_cluster_has_most_questions() -> None:
    """Why the signs decide: the same draws as above, judged by t over the cluster-robust standard error."""
    names, first, second = drawn(0.7, 0.0, np.random.default_rng(19))
    codes = np.array([int(name) for name in names])
    intervals = [clustered((1 + moved) / 2, codes) for moved in (second - first).T]
    assert np.mean([interval.high is not None and interval.high < 0.5 for interval in intervals]) > 0.08


def test_a_large_drop_is_found_where_clusters_are_alike() -> None:
    names, first, second = drawn(0.1, 0.1, np.random.default_rng(21))
    assert (
        np.mean([column.high is not None and column.high < -0.005 for column in paired_columns(first, second, names)])
        > 0.5
    )
