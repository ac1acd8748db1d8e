import math

import numpy as np
import pytest

from recallbench.scoring.bootstrap import bootstrap
from recallbench.scoring.editions import FIRST
from recallbench.scoring.intervals import Interval, cluster_codes, clustered, score_difference, wilson


def test_wilson_written_out() -> None:
    """8 of 10: centre .7168, half width .2267 (z = 1.959964)."""
    interval = wilson(8, 10)
    assert interval.low == pytest.approx(0.490162, abs=1e-6)
    assert interval.high == pytest.approx(0.943318, abs=1e-6)
    assert interval.method == "Wilson 95%"


def test_wilson_is_where_the_score_test_is_just_rejected() -> None:
    for successes, n in ((1, 7), (300, 499), (470, 500)):
        interval = wilson(successes, n)
        for bound in (interval.low, interval.high):
            assert bound is not None
            z = (successes / n - bound) / math.sqrt(bound * (1 - bound) / n)
            assert abs(z) == pytest.approx(1.959963985, abs=1e-8)


def test_wilson_at_the_ends_says_something_and_stays_inside() -> None:
    assert wilson(0, 5) == Interval(0.0, pytest.approx(0.434482, abs=1e-6), "Wilson 95%")
    assert wilson(5, 5) == Interval(pytest.approx(0.565518, abs=1e-6), 1.0, "Wilson 95%")
    assert wilson(1, 1).low == pytest.approx(0.206549, abs=1e-6)


def test_clustered_written_out() -> None:
    """Clusters (1, 1, 0), (0, 0), (1): mean 1/2, totals of residuals 1/2, -1, 1/2.

    Variance 3/2 * (1/4 + 1 + 1/4) / 36 = 1/16, error 1/4, t(2) = 4.302653: half width 1.0757, so all of [0, 1].
    Independent: sample variance 3/10 over 6 = 1/20; design effect 5/4.
    """
    values, clusters = np.array([1.0, 1, 0, 0, 0, 1]), np.array([0, 0, 0, 1, 1, 2])
    interval = clustered(values, clusters)
    assert (interval.low, interval.high) == (0.0, 1.0)
    assert interval.method == "t(2) 95%, cluster-robust over 3 clusters"
    assert interval.design_effect == pytest.approx(1.25)
    narrow = clustered(0.5 + (values - 0.5) / 10, clusters)
    assert narrow.low == pytest.approx(0.5 - 0.4302653 / 4, abs=1e-7)
    assert narrow.high == pytest.approx(0.5 + 0.4302653 / 4, abs=1e-7)


def test_clustered_equals_the_sandwich_of_a_regression_on_a_constant() -> None:
    """(X'X)^-1 (sum of X_g' u_g u_g' X_g) (X'X)^-1 times G/(G-1) * (n-1)/(n-1), the usual CR1."""
    rng = np.random.default_rng(5)
    clusters = rng.integers(0, 10, 300)
    values = np.clip(rng.normal(0.5, 0.1, 300) + 0.05 * (clusters - 4.5) / 4.5, 0, 1)
    design = np.ones((300, 1))
    bread = np.linalg.inv(design.T @ design)
    residuals = values - (design @ (bread @ design.T @ values))
    meat = np.zeros((1, 1))
    for cluster in range(10):
        score = design[clusters == cluster].T @ residuals[clusters == cluster]
        meat += np.outer(score, score)
    error = math.sqrt((bread @ meat @ bread)[0, 0] * 10 / 9)
    interval = clustered(values, clusters)
    assert interval.low == pytest.approx(values.mean() - 2.2621571628 * error, abs=1e-9)
    assert interval.high == pytest.approx(values.mean() + 2.2621571628 * error, abs=1e-9)
    assert interval.design_effect == pytest.approx(error**2 / (values.var(ddof=1) / 300))


def test_bootstrap_equals_a_plain_one_drawn_alike() -> None:
    values = np.random.default_rng(1).random((40, 3))
    draw = np.random.default_rng(42)
    means = [values[draw.integers(0, 40, 40, dtype=np.uint16)].mean(axis=0) for _ in range(2000)]
    plain = np.quantile(np.array(means), (0.025, 0.975), axis=0)
    for column, interval in enumerate(bootstrap(values)):
        assert interval.low == pytest.approx(plain[0, column], abs=1e-12)
        assert interval.high == pytest.approx(plain[1, column], abs=1e-12)
        assert interval.method == "percentile bootstrap 95% (2,000 resamples, seed 42)"


def test_bootstrap_is_near_the_normal_interval_of_a_large_sample() -> None:
    values = np.random.default_rng(2).random((1000, 1))
    (interval,) = bootstrap(values)
    error = values.std(ddof=1) / math.sqrt(1000)
    # A 2.5% point of 2,000 resamples has a Monte Carlo error of sqrt(.025 * .975 / 2000) / .0584 of that: allow four.
    wobble = 4 * math.sqrt(0.025 * 0.975 / 2000) / 0.0584 * error
    assert interval.low == pytest.approx(values.mean() - 1.96 * error, abs=wobble)
    assert interval.high == pytest.approx(values.mean() + 1.96 * error, abs=wobble)


def test_bootstrap_of_many_questions_is_drawn_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(3).random((50, 2))
    at_once = bootstrap(values)
    monkeypatch.setattr("recallbench.scoring.bootstrap._CELLS", 50 * 333)
    parts = bootstrap(values)
    for expected, other in zip(at_once, parts, strict=True):
        assert other.low == pytest.approx(expected.low, abs=1e-12)
        assert other.high == pytest.approx(expected.high, abs=1e-12)


def test_a_columns_bootstrap_does_not_depend_on_its_company() -> None:
    values = np.random.default_rng(4).random((30, 3))
    together, alone = bootstrap(values)[1], bootstrap(values[:, 1:2])[0]
    assert together.low == pytest.approx(alone.low, abs=1e-12)
    assert together.high == pytest.approx(alone.high, abs=1e-12)


def test_degenerate_samples_get_no_bounds_and_a_reason() -> None:
    nothing, single = np.empty((0, 1)), np.array([[0.5]])
    assert bootstrap(nothing) == [Interval(None, None, "n/a (no question)")]
    assert bootstrap(single) == [Interval(None, None, "n/a (one question)")]
    assert bootstrap(np.full((9, 1), 1.0)) == [Interval(None, None, "n/a (all questions equal)")]
    assert wilson(0, 0) == Interval(None, None, "n/a (no question)")
    no_clusters = np.empty(0, dtype=np.int64)
    assert clustered(np.empty(0), no_clusters) == Interval(None, None, "n/a (no question)")
    assert clustered(np.array([0.0, 1.0]), np.array([7, 7])) == Interval(None, None, "n/a (one cluster)")
    assert clustered(np.array([0.7] * 4), np.array([0, 0, 1, 1])) == Interval(None, None, "n/a (all questions equal)")
    # Each cluster has the same mean, though questions differ: the clusters say nothing of the spread between them.
    balanced = clustered(np.array([0.0, 1.0, 0.0, 1.0]), np.array([0, 0, 1, 1]))
    assert (balanced.low, balanced.high, balanced.method) == (None, None, "n/a (all clusters equal)")
    assert balanced.design_effect == pytest.approx(0.0)


def test_the_method_follows_from_the_measure_and_the_clusters() -> None:
    values = np.array([[1, 0.5], [0, 0.25], [1, 1.0], [1, 0.75]])
    independent = FIRST.means(values, [True, False], None)
    assert [interval.method.split(" ")[0] for interval in independent] == ["Wilson", "percentile"]
    assert [interval.design_effect for interval in independent] == [None, None]
    shared = FIRST.means(values, [True, False], np.array([0, 0, 1, 2]))
    assert {interval.method for interval in shared} == {"t(2) 95%, cluster-robust over 3 clusters"}
    apart = FIRST.means(values, [True, False], np.array([0, 1, 2, 3]))
    assert apart == independent


def test_clarification_10_alike_questions_of_one_cluster_widen_the_interval() -> None:
    """Ten conversations of 50 questions that all go the same way within each: the sample is 10, not 500."""
    values = np.repeat([1.0, 0, 1, 1, 0, 1, 1, 1, 0, 1], 50)[:, None]
    codes = np.repeat(np.arange(10), 50)
    (naive,), (honest,) = FIRST.means(values, [True], None), FIRST.means(values, [True], codes)
    assert naive.high - naive.low == pytest.approx(0.08, abs=0.005)  # type: ignore[operator]
    # Residual totals 15 (seven times) and -35 (three): variance 10/9 * 5250 / 250000, times t(9) = 2.262157.
    assert honest.low == pytest.approx(0.7 - 2.262157 * math.sqrt(10 / 9 * 5250 / 250_000), abs=1e-6)
    assert honest.high == 1.0
    assert honest.design_effect == pytest.approx(50 * 499 / 450)


def test_cluster_names_become_numbers_and_an_empty_name_stands_alone() -> None:
    codes = cluster_codes(["a", "", "b", "a", ""])
    assert codes is not None
    assert codes[0] == codes[3]
    assert len(set(codes.tolist())) == 4
    assert cluster_codes(["", "", ""]) is None
    assert cluster_codes(["a", "b"]) is None
    assert cluster_codes([]) is None


def test_the_score_interval_of_a_pair_is_where_the_score_test_is_just_rejected() -> None:
    """The constrained maximum is searched for here, and solved for there."""
    for wins, losses, n in ((12, 2, 50), (0, 3, 40), (1, 0, 499), (30, 30, 1982)):
        interval = score_difference(wins, losses, n)
        for bound in (interval.low, interval.high):
            assert bound is not None
            share = np.linspace(max(0.0, -bound), (1 - bound) / 2, 2_000_001)[1:-1]
            likelihood = (
                wins * np.log(share + bound)
                + losses * np.log(share)
                + (n - wins - losses) * np.log(1 - 2 * share - bound)
            )
            q = share[likelihood.argmax()]
            z = (wins - losses - n * bound) / math.sqrt(n * (2 * q + bound - bound**2))
            assert abs(z) == pytest.approx(1.959963985, abs=1e-3)


def test_the_score_interval_of_a_pair_written_out() -> None:
    """Nothing differs: z squared over n + z squared, both ways. Swapped sides mirror it."""
    assert score_difference(0, 0, 50).high == pytest.approx(3.841458821 / 53.841458821)
    assert score_difference(0, 0, 50).low == pytest.approx(-3.841458821 / 53.841458821)
    there, back = score_difference(9, 4, 200), score_difference(4, 9, 200)
    assert (there.low, there.high) == pytest.approx((-(back.high or 0), -(back.low or 0)))
    assert (score_difference(5, 0, 5).high, score_difference(0, 5, 5).low) == pytest.approx((1.0, -1.0))
    assert score_difference(0, 0, 0) == Interval(None, None, "n/a (no question)")
