from __future__ import annotations

import numpy as np
import pytest

from recallbench.scoring.strata import Sampled, allocate, weighted_mean


def of(recalls: int, values: list[float], counted: list[float] | None = None) -> Sampled:
    ones = [1.0] * len(values) if counted is None else counted
    return Sampled(recalls, np.array(values), np.array(ones), np.array(ones))


def test_labels_are_allocated_in_proportion_and_at_least_one() -> None:
    plenty = dict.fromkeys("abc", 1000)
    assert allocate(10, {"a": 50, "b": 30, "c": 20}, plenty) == {"a": 5, "b": 3, "c": 2}
    assert allocate(10, {"a": 990, "b": 9, "c": 1}, plenty) == {"a": 8, "b": 1, "c": 1}
    assert allocate(3, {"a": 990, "b": 9, "c": 1}, plenty) == {"a": 1, "b": 1, "c": 1}
    with pytest.raises(ValueError, match="2 can't hold one of each of 3"):
        allocate(2, {"a": 1, "b": 1, "c": 1}, plenty)


def test_an_exhausted_stratum_leaves_its_share_to_the_others() -> None:
    assert allocate(10, {"a": 80, "b": 10, "c": 10}, {"a": 2, "b": 100, "c": 100}) == {"a": 2, "b": 4, "c": 4}
    assert allocate(10, {"a": 5, "b": 5}, {"a": 2, "b": 3}) == {"a": 2, "b": 3}


def test_strata_weigh_by_their_recalls() -> None:
    # .5 over 900 recalls and 1.0 over 100, though as many queries were labelled of each.
    value, _ = weighted_mean([of(900, [1.0, 0.0]), of(100, [1.0, 1.0])])
    assert value == pytest.approx(0.55)
    # A query that was asked three times counts three times: 3 x 1 and 1 x 0.
    assert weighted_mean([of(100, [3.0, 0.0], [3.0, 1.0])])[0] == pytest.approx(0.75)
    assert weighted_mean([])[0] is None


def test_a_completely_labelled_log_needs_no_interval() -> None:
    value, bounds = weighted_mean([of(4, [1.0, 0.0, 1.0, 1.0])])
    assert (value, bounds.low, bounds.high) == (0.75, 0.75, 0.75)
    assert weighted_mean([of(40, [1.0])])[1].method == "n/a (one judged query)"
    assert weighted_mean([of(40, [1.0, 1.0])])[1].method == "n/a (all queries equal)"


def test_without_strata_and_repeats_it_is_the_t_interval_of_a_mean() -> None:
    values = [1.0, 0.0, 1.0, 1.0, 0.5]
    _, bounds = weighted_mean([of(10**9, values)])
    from scipy.stats import t

    half = t.ppf(0.975, 4) * np.std(values, ddof=1) / 5**0.5
    assert bounds.high == pytest.approx(min(1.0, 0.7 + half))
    assert bounds.low == pytest.approx(0.7 - half)


def test_estimates_are_unbiased_and_intervals_cover() -> None:
    """A log of three kinds, of which the rarest gets one label; popular queries are easier."""
    draw = np.random.default_rng(3)
    population = []
    for queries, base in ((800, 0.8), (150, 0.5), (12, 0.2)):
        logged = draw.geometric(0.4, queries).astype(float)
        rate = np.clip(base + 0.05 * (logged - 2.5) + draw.normal(0, 0.1, queries), 0, 1)
        population.append((logged, draw.binomial(logged.astype(int), rate).astype(float)))
    truth = sum(y.sum() for _, y in population) / sum(m.sum() for m, _ in population)
    estimates, covered = [], 0
    for _ in range(400):
        strata = []
        for (logged, values), n in zip(population, (80, 19, 1), strict=True):
            chosen = draw.choice(len(logged), n, replace=False)
            strata.append(Sampled(int(logged.sum()), values[chosen], logged[chosen], logged[chosen]))
        value, bounds = weighted_mean(strata)
        assert value is not None
        assert bounds.low is not None
        assert bounds.high is not None
        estimates.append(value)
        covered += bounds.low <= truth <= bounds.high
    assert np.mean(estimates) == pytest.approx(truth, abs=0.01)
    assert 0.91 < covered / 400 <= 1
