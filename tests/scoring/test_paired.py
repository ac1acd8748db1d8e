from __future__ import annotations

import math

import numpy as np
import pytest

from recallbench.scoring.paired import holm, paired, paired_columns


def test_a_comparison_written_out() -> None:
    first = np.array([0.0, 1.0, 1.0, 0.0, 0.5, 0.0])
    second = np.array([1.0, 1.0, 0.0, 1.0, 1.0, 0.5])
    # Differences 1 0 -1 | 1 | .5 .5; totals 0, 1, 1.
    pair = paired(first, second, ["a", "a", "a", "b", "c", "c"])
    assert (pair.n, pair.clusters) == (6, 3)
    assert pair.difference == pytest.approx(2 / 6)
    assert (pair.wins, pair.ties, pair.losses) == (4, 1, 1)
    # Two clusters differ: of the sums 2, 0, 0, -2 half reach 2.
    assert (pair.test.p, pair.test.smallest_p) == (0.5, 0.5)
    # Without a: 2/3. Without b: 1/5. Without c: 1/4.
    assert (pair.least, pair.most) == pytest.approx((0.2, 2 / 3))
    assert (pair.low, pair.high, pair.largest) == (None, None, 0.5)
    assert pair.method == "n/a (3 clusters: sign flips reach no p of .05 below 6)"
    assert pair.detectable is None


def test_six_clusters_have_an_interval() -> None:
    # Of 64 flips one may lie beyond each end: the least and the largest mean of any set of clusters.
    pair = paired(np.full(12, 0.5), np.repeat([0.6, 0.7, 0.8, 0.7, 0.6, 0.4], 2), [*"aabbccddeeff"])
    assert (pair.low, pair.high) == pytest.approx((-0.1, 0.3))
    assert pair.method == "95% by 64 sign flips of 6 clusters"
    assert pair.largest == pytest.approx(1 / 6)


def test_the_detectable_difference_written_out() -> None:
    # Six clusters: the interval is -.1 to .3, so half of it is .2, of which t(5) = 2.570582 standard errors make one.
    second = np.repeat([0.6, 0.7, 0.8, 0.7, 0.6, 0.4], 2)
    pair = paired(np.full(12, 0.5), second, [*"aabbccddeeff"])
    assert pair.detectable == pytest.approx(0.2 * (2.5705818 + 0.9195438) / 2.5705818, rel=1e-6)
    # With four clusters no difference is detectable, however large.
    assert paired(np.full(8, 0.5), second[:8], [*"aabbccdd"]).detectable is None


def test_independent_binary_questions_get_a_score_interval() -> None:
    first, second = np.zeros(40), np.array([1.0] * 6 + [0.0] * 34)
    pair = paired(first, second)
    assert (pair.clusters, pair.least, pair.most) == (40, None, None)
    assert (pair.test.p, pair.test.method) == (2 / 64, "all 64 sign flips")
    assert pair.method == "score 95% of paired shares (Tango)"
    assert (pair.low, pair.high) == pytest.approx((0.049235, 0.290723), abs=1e-6)
    alone = paired(first, second, [str(i) for i in range(40)])
    assert alone == pair


def test_values_between_0_and_1_get_t_over_the_standard_error() -> None:
    # Differences .5 -.5 0 1: mean .25, sample variance 5/12, s.e. sqrt(5/48); t(3) = 3.182446.
    pair = paired(np.array([0.5, 0.5, 0.0, 0.0]), np.array([1.0, 0.0, 0.0, 1.0]))
    assert pair.method == "t(3) 95%"
    assert pair.low == pytest.approx(0.25 - 3.182446305284263 * math.sqrt(5 / 48))
    assert pair.high == 1.0


def test_a_column_does_not_depend_on_its_company() -> None:
    draw = np.random.default_rng(8)
    first, second = draw.random((60, 4)), draw.random((60, 4))
    first[:, 1], second[:, 1] = first[:, 1] > 0.5, second[:, 1] > 0.5
    clusters = [str(i % 30) for i in range(60)]
    for dependent in (None, clusters):
        together = paired_columns(first, second, dependent)
        for i, column in enumerate(together):
            alone = paired(first[:, i], second[:, i], dependent)
            assert (column.test, column.wins, column.low, column.turning) == (
                alone.test,
                alone.wins,
                alone.low,
                alone.turning,
            )


def test_a_sign_that_rests_on_one_cluster() -> None:
    # Totals 2, -.5, -.5 over two questions each: without a -1 / 4, without another 1.5 / 4.
    first = np.array([0.0, 0.0, 0.5, 0.5, 0.5, 0.5])
    second = np.array([1.0, 1.0, 0.25, 0.25, 0.25, 0.25])
    pair = paired(first, second, [*"aabbcc"])
    assert (pair.least, pair.most) == pytest.approx((-0.25, 1.5 / 4))
    assert pair.turning == ("a",)
    assert paired(second, first, [*"aabbcc"]).turning == ("a",)
    assert paired(first, first + 0.1, [*"aabbcc"]).turning == ()
    # Without a no difference is left, and no sign either.
    assert paired(np.zeros(4), np.array([1.0, 0.0, 0.0, 0.0]), [*"aabb"]).turning == ("a",)


def test_equal_rankings_do_not_differ() -> None:
    values = np.array([1.0, 0.5, 0.0])
    pair = paired(values, values, ["a", "a", "b"])
    assert (pair.difference, pair.low, pair.high, pair.test.p) == (0.0, None, None, 1.0)
    assert pair.method == "n/a (no question differs)"
    assert (pair.wins, pair.ties, pair.losses) == (0, 3, 0)


def test_swapped_sides_mirror_every_figure() -> None:
    draw = np.random.default_rng(3)
    first, second, clusters = draw.random(60), draw.random(60), [str(i % 6) for i in range(60)]
    there, back = paired(first, second, clusters), paired(second, first, clusters)
    assert there.difference == pytest.approx(-back.difference)
    assert there.low is not None
    assert there.low == pytest.approx(-(back.high or 0))
    assert (there.test, there.wins, there.losses) == (back.test, back.losses, back.wins)
    assert there.least == pytest.approx(-(back.most or 0))


def test_sides_of_different_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="not the values of the same questions"):
        paired(np.zeros(3), np.zeros(4))
    with pytest.raises(ValueError, match="2 clusters for 3 questions"):
        paired(np.zeros(3), np.zeros(3), ["a", "b"])


def test_holms_correction_written_out() -> None:
    # Sorted .01 .03 .04 times 3, 2, 1: .03, .06, .04 raised to .06.
    assert holm([0.03, 0.01, 0.04]) == pytest.approx([0.06, 0.03, 0.06])
    assert holm([0.6, 0.7]) == [1.0, 1.0]
    assert holm([0.02]) == [0.02]
    assert holm([]) == []
