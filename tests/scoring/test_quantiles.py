from __future__ import annotations

import numpy as np
import pytest

from recallbench.scoring.quantiles import percentiles, quantile, quantile_interval


def test_a_quantile_is_the_smallest_value_that_enough_do_not_exceed() -> None:
    assert quantile([3.0, 1, 2], 0.95) == 3.0
    assert quantile(list(map(float, range(1, 101))), 0.95) == 95.0
    assert quantile(list(map(float, range(1, 101))), 0.5) == 50.0
    assert quantile([], 0.5) is None
    assert quantile([7.0], 0.01) == 7.0


def test_the_quantile_by_index_is_one_value_further_up() -> None:
    hundred = list(map(float, range(100, 0, -1)))
    assert quantile(hundred, 0.95, "index") == 96.0  # sorted[int(.95 * 100)]
    assert quantile(hundred, 0.5, "index") == 51.0
    assert quantile([3.0, 1, 2], 0.95, "index") == 3.0
    assert quantile([1.0, 2, 3, 4], 0.5, "index") == 3.0
    assert quantile([7.0], 1.0, "index") == 7.0
    assert quantile([], 0.95, "index") is None


@pytest.mark.parametrize("share", [0.0, 0.37, 0.5, 0.95, 1.0])
def test_the_linear_quantile_is_numpys(share: float) -> None:
    values = np.random.default_rng(3).exponential(size=31).tolist()
    assert quantile(values, share, "linear") == pytest.approx(float(np.percentile(values, 100 * share)), rel=1e-12)


def test_the_linear_quantile_with_calls_that_never_ended() -> None:
    assert quantile([1.0, 2.0, np.inf, np.inf], 1 / 3, "linear") == 2.0
    assert quantile([1.0, 2.0, np.inf, np.inf], 0.5, "linear") == np.inf
    assert quantile([1.0, 2.0, np.inf, np.inf], 0.9, "linear") == np.inf
    assert quantile([], 0.5, "linear") is None


@pytest.mark.parametrize(("share", "fewest"), [(0.95, 59), (0.99, 299)])
def test_a_percentile_has_an_upper_bound_once_there_are_enough_and_its_value_always(share: float, fewest: int) -> None:
    """The largest of n lies above it with 1 - share^n: .9515 of 59 for p95, .9505 of 299 for p99."""
    (few,), (enough,) = (percentiles(list(map(float, range(n))), [share]) for n in (fewest - 1, fewest))
    assert (few.value, few.high, enough.high) == (quantile(list(range(fewest - 1)), share), None, fewest - 1.0)
    assert percentiles([7.0], [share])[0].value == 7.0
    assert percentiles([], [share]) == []


def test_bounds_are_order_statistics_and_missing_where_too_few() -> None:
    bounds = quantile_interval(list(map(float, range(1, 101))), 0.5)
    assert (bounds.low, bounds.high) == (40.0, 61.0)  # the table's ranks for a median of 100
    assert quantile_interval([1.0, 2, 3], 0.95).high is None
    assert quantile_interval([1.0], 0.5).method == "n/a (1 values are too few)"


def test_the_interval_covers() -> None:
    draw = np.random.default_rng(7)
    truth = -np.log(0.05)
    inside = 0
    for _ in range(500):
        bounds = quantile_interval(draw.exponential(size=200).tolist(), 0.95)
        assert bounds.low is not None
        inside += bounds.low <= truth <= (bounds.high or np.inf)
    assert inside / 500 > 0.93
