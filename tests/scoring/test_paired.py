from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from recallbench.scoring.paired import FLIPS, holm, paired, paired_columns, sign_flips


def test_three_clusters_have_eight_flips() -> None:
    # Sums of ±3 ±2 ±1: 6 4 2 0 0 -2 -4 -6. All moved the same way: 2 of 8.
    found = sign_flips(np.array([3.0, 2.0, 1.0]))
    assert (found.p, found.smallest_p, found.method) == (0.25, 0.25, "all 8 sign flips")
    # 3 + 2 - 1 = 4: reached by 6, 4, -4 and -6.
    assert sign_flips(np.array([3.0, 2.0, -1.0])).p == 0.5
    # 3 - 2 - 1 = 0: every flip is as far.
    assert sign_flips(np.array([3.0, -2.0, -1.0])).p == 1.0


def test_ten_conversations_reach_one_in_512() -> None:
    found = sign_flips(np.arange(1.0, 11.0))
    assert found.p == found.smallest_p == 2 / 1024


def test_a_cluster_that_does_not_differ_is_no_evidence() -> None:
    found = sign_flips(np.array([3.0, 0.0, 2.0, 0.0, 1.0]))
    assert (found.p, found.smallest_p, found.method) == (0.25, 0.25, "all 8 sign flips")


def test_nothing_differs() -> None:
    found = sign_flips(np.zeros(10))
    assert (found.p, found.smallest_p, found.method) == (1.0, 1.0, "no cluster differs")


def test_equal_sums_count_although_rounding_parts_them() -> None:
    # .1 + .2 - .3 is 5.6e-17 in floating point and 0 on paper, as far from 0 as any.
    assert sign_flips(np.array([0.1, 0.2, -0.3])).p == 1.0
    # .1 + .2 + .3 against .3 + .2 + .1 with a sum that was taken in another order.
    assert sign_flips(np.array([0.1, 0.7, 0.2, 0.3])).p == 2 / 16


@pytest.mark.parametrize("n", range(1, 13))
def test_up_to_twelve_the_p_is_what_counting_every_flip_gives(n: int) -> None:
    """Counted in whole numbers, where equal sums are equal: ties abound among thirds of reciprocal ranks."""
    draw = np.random.default_rng(n)
    for _ in range(6):
        wholes = [int(one) for one in draw.integers(-5, 6, n)]
        sums = [
            sum(sign * one for sign, one in zip(signs, wholes, strict=True)) for signs in product((-1, 1), repeat=n)
        ]
        expected = Fraction(sum(abs(one) >= abs(sum(wholes)) for one in sums), 2**n)
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
    found = sign_flips(totals)
    assert found.p == pytest.approx(0.0987, abs=0.01)
    assert sign_flips(totals) == found


def test_no_difference_is_found_as_often_as_claimed() -> None:
    draw = np.random.default_rng(7)
    ps = np.array([sign_flips(draw.normal(size=8)).p for _ in range(2000)])
    for level in (0.05, 0.2, 0.5):
        assert (ps <= level).mean() <= level + 4 * np.sqrt(level * (1 - level) / 2000)
    assert (ps <= 0.5).mean() > 0.45


def test_a_pair_by_hand() -> None:
    first = np.array([0.0, 1.0, 1.0, 0.0, 0.5, 0.0])
    second = np.array([1.0, 1.0, 0.0, 1.0, 1.0, 0.5])
    # Differences 1 0 -1 | 1 | .5 .5; totals 0, 1, 1.
    found = paired(first, second, ["a", "a", "a", "b", "c", "c"])
    assert (found.n, found.clusters) == (6, 3)
    assert found.difference == pytest.approx(2 / 6)
    assert (found.wins, found.ties, found.losses) == (4, 1, 1)
    # Two clusters differ: of the sums 2, 0, 0, -2 half reach 2.
    assert (found.test.p, found.test.smallest_p) == (0.5, 0.5)
    # Without a: 2/3. Without b: 1/5. Without c: 1/4.
    assert (found.least, found.most) == pytest.approx((0.2, 2 / 3))
    # Residual totals by cluster: 0 - 3/3, 1 - 1/3, 1 - 2/3; variance 3/2 (1 + 4/9 + 1/9) / 36.
    half = 4.302652729911275 * np.sqrt(1.5 * (14 / 9) / 36)
    assert found.high == 1.0
    assert found.low == pytest.approx(1 / 3 - half)
    assert found.method == "t(2) 95%, cluster-robust over 3 clusters"
    assert found.detectable is None  # the interval is cut off at 1


def test_the_detectable_difference() -> None:
    # Differences of ±.1 in four clusters of one value each: s.e. of the mean .1 * sqrt(4/3) / 2.
    second = np.repeat([0.6, 0.4, 0.6, 0.4], 2)
    found = paired(np.full(8, 0.5), second, [*"aabbccdd"])
    error = 0.1 * np.sqrt(4 / 3) / 2
    assert found.high == pytest.approx(3.182446305284263 * error)
    assert found.detectable == pytest.approx((3.182446305284263 + 0.9784723) * error, rel=1e-6)


def test_independent_questions() -> None:
    first, second = np.zeros(40), np.array([1.0] * 6 + [0.0] * 34)
    found = paired(first, second)
    assert (found.clusters, found.least, found.most) == (40, None, None)
    assert (found.test.p, found.test.method) == (2 / 64, "all 64 sign flips")
    assert found.method == "score 95% of paired shares (Tango)"
    assert (found.low, found.high) == pytest.approx((0.049235, 0.290723), abs=1e-6)
    alone = paired(first, second, [str(i) for i in range(40)])
    assert alone == found


def test_values_between_0_and_1_get_t_over_the_standard_error() -> None:
    # Differences .5 -.5 0 1: mean .25, sample variance 5/12, s.e. sqrt(5/48); t(3) = 3.182446.
    found = paired(np.array([0.5, 0.5, 0.0, 0.0]), np.array([1.0, 0.0, 0.0, 1.0]))
    assert found.method == "t(3) 95%"
    assert found.low == pytest.approx(0.25 - 3.182446305284263 * math.sqrt(5 / 48))
    assert found.high == 1.0


def test_a_column_does_not_depend_on_its_company() -> None:
    draw = np.random.default_rng(8)
    first, second = draw.random((60, 4)), draw.random((60, 4))
    first[:, 1], second[:, 1] = first[:, 1] > 0.5, second[:, 1] > 0.5
    clusters = [str(i % 30) for i in range(60)]
    for dependent in (None, clusters):
        together = paired_columns(first, second, dependent)
        for i, one in enumerate(together):
            alone = paired(first[:, i], second[:, i], dependent)
            assert (one.test, one.wins, one.low, one.turning) == (alone.test, alone.wins, alone.low, alone.turning)


def test_a_sign_that_rests_on_one_cluster() -> None:
    # Totals 2, -.5, -.5 over two questions each: without a -1 / 4, without another 1.5 / 4.
    first = np.array([0.0, 0.0, 0.5, 0.5, 0.5, 0.5])
    second = np.array([1.0, 1.0, 0.25, 0.25, 0.25, 0.25])
    found = paired(first, second, [*"aabbcc"])
    assert (found.least, found.most) == pytest.approx((-0.25, 1.5 / 4))
    assert found.turning == ("a",)
    assert paired(second, first, [*"aabbcc"]).turning == ("a",)
    assert paired(first, first + 0.1, [*"aabbcc"]).turning == ()
    # Without a nothing is left of it: no sign either.
    assert paired(np.zeros(4), np.array([1.0, 0.0, 0.0, 0.0]), [*"aabb"]).turning == ("a",)


def test_the_same_ranking_twice() -> None:
    values = np.array([1.0, 0.5, 0.0])
    found = paired(values, values, ["a", "a", "b"])
    assert (found.difference, found.low, found.high, found.test.p) == (0.0, None, None, 1.0)
    assert found.method == "n/a (no question differs)"
    assert (found.wins, found.ties, found.losses) == (0, 3, 0)


def test_swapping_the_two_mirrors_everything() -> None:
    draw = np.random.default_rng(3)
    first, second, clusters = draw.random(60), draw.random(60), [str(i % 6) for i in range(60)]
    there, back = paired(first, second, clusters), paired(second, first, clusters)
    assert there.difference == pytest.approx(-back.difference)
    assert there.low == pytest.approx(-(back.high or 0))
    assert (there.test, there.wins, there.losses) == (back.test, back.losses, back.wins)
    assert there.least == pytest.approx(-(back.most or 0))


def test_other_questions_are_refused() -> None:
    with pytest.raises(ValueError, match="not the values of the same questions"):
        paired(np.zeros(3), np.zeros(4))
    with pytest.raises(ValueError, match="2 clusters for 3 questions"):
        paired(np.zeros(3), np.zeros(3), ["a", "b"])


def test_holm() -> None:
    # Sorted .01 .03 .04 times 3, 2, 1: .03, .06, .04 raised to .06.
    assert holm([0.03, 0.01, 0.04]) == pytest.approx([0.06, 0.03, 0.06])
    assert holm([0.6, 0.7]) == [1.0, 1.0]
    assert holm([0.02]) == [0.02]
    assert holm([]) == []
