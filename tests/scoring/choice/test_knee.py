from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from recallbench.scoring.choice.knee import Knee, knee
from recallbench.scoring.judgement import Floats

PRICES = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0]
BENT = [0.5, 0.6, 0.7, 0.8, 0.802, 0.804]
"""A doubling gains .1 up to a price of 8, then .002."""
CLUSTERS = [f"c{i % 10}" for i in range(2000)]


def _curve(means: list[float], questions: int = 10) -> Floats:
    return np.repeat(np.array(means)[:, None], questions, axis=1)


def _asked(means: list[float], seed: int) -> Floats:
    """Return hits of 2,000 questions, each with a difficulty of its own that all points share, in part."""
    draw = np.random.default_rng(seed)
    shared, own = draw.random(2000), draw.random((len(means), 2000))
    return (np.where(draw.random(2000) < 0.9, shared, own) < np.array(means)[:, None]).astype(np.float64)


def test_the_knee_is_where_a_doubling_stops_to_gain_what_it_is_worth() -> None:
    found = knee(_curve(BENT), PRICES)
    assert (found.point, found.reason, found.support, found.low, found.high) == (3, "", 1.0, 8.0, 8.0)
    # A user for whom a doubling must gain only .001 has no knee in sight.
    assert knee(_curve(BENT), PRICES, worth=0.001).point is None


@pytest.mark.parametrize(
    ("price", "mean"), [(64.0, 0.806), (1e6, 0.81), (0.01, 0.1), (8.5, 0.8), (3.0, 0.5), (7.9, 0.795)]
)
def test_a_point_that_is_no_better_bargain_does_not_move_the_knee(price: float, mean: float) -> None:
    assert knee(_curve([mean, *BENT]), [price, *PRICES]).point == 4


@pytest.mark.parametrize(
    ("means", "prices", "reason"),
    [
        ([0.5, 0.6, 0.7], [1.0, 2.0, 4.0], "no knee: up to the dearest point a doubling gains 0.01 or more"),
        (
            [0.5, 0.5, 0.501],
            [1.0, 2.0, 4.0],
            "no knee: nothing beyond the cheapest point gains 0.01 for each doubling",
        ),
        ([0.5, 0.6], [1.0, 1.0], "no knee: a curve has three prices or more"),
    ],
)
def test_a_line_has_no_knee(means: list[float], prices: list[float], reason: str) -> None:
    found = knee(_curve(means), prices)
    assert (found.point, found.reason) == (None, reason)


def _share(make: Callable[[int], Knee], is_so: Callable[[Knee], bool], sweeps: int) -> float:
    return sum(is_so(make(seed)) for seed in range(sweeps)) / sweeps


def test_a_known_knee_is_found_in_asked_questions_and_none_in_a_line() -> None:
    def bent(seed: int) -> Knee:
        return knee(_asked(BENT, seed), PRICES, CLUSTERS, resamples=200)

    def straight(seed: int) -> Knee:
        return knee(_asked([0.5, 0.54, 0.58, 0.62, 0.66, 0.7], seed), PRICES, CLUSTERS, resamples=200)

    assert _share(bent, lambda found: found.point == 3, 40) >= 0.9
    assert _share(straight, lambda found: found.point is None, 40) >= 0.95


def test_a_line_that_gains_just_what_it_is_worth_has_a_false_knee_in_at_most_one_of_twenty() -> None:
    means = [0.5, 0.51, 0.52, 0.53, 0.54, 0.55]

    def line(seed: int) -> Knee:
        return knee(_asked(means, seed), PRICES, CLUSTERS, resamples=1)

    assert _share(line, lambda found: found.point is not None, 200) <= 0.05


def test_support_is_the_share_of_resamples_that_agree() -> None:
    # Two clusters with knees at 2 and at 4: of the draws of two, one in four has the first alone.
    values = np.array([[0.5, 0.6, 0.6, 0.6], [0.5, 0.5, 0.7, 0.7]]).T
    found = knee(values, [1.0, 2.0, 4.0, 8.0], ["a", "b"], worth=0.06)
    assert found.shares == (0.0, pytest.approx(0.25, abs=0.04), pytest.approx(0.75, abs=0.04), 0.0)
    assert (found.support, found.low, found.high) == (found.shares[2], 2.0, 4.0)
    # Its heights above the line are 1/30 and 2/30; with the second sign turned the point at 2 has 2/30 and 2/30.
    assert (found.p, found.reason) == (0.5, "no knee: the curve can't be told from a straight line (p = 0.5)")


def test_a_price_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="prices above 0"):
        knee(_curve([0.5, 0.6]), [0.0, 1.0])
