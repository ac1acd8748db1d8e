from __future__ import annotations

import pytest

from recallbench.scoring.trend import trend

DAYS = list(map(float, range(30)))


def test_five_in_order_are_the_first_that_show_a_trend() -> None:
    falling = trend(DAYS[:5], [0.9, 0.8, 0.7, 0.6, 0.5])
    assert (falling.rises, falling.falls, falling.p) == (0, 10, pytest.approx(2 / 120))
    assert falling.slope == pytest.approx(-0.1)
    short = trend(DAYS[:4], [0.9, 0.8, 0.7, 0.6])
    assert (short.p, short.method) == (None, "n/a (4 results: fewer than 5 show no trend)")
    assert short.slope == pytest.approx(-0.1)
    assert trend(DAYS[:1], [0.9]).method == "n/a (1 result: fewer than 5 show no trend)"


def test_ties_are_no_evidence_of_a_trend() -> None:
    assert trend(DAYS[:6], [0.5] * 6).p == 1.0
    # Of the ten places that two of five can take, the two at one end are as far off.
    assert trend(DAYS[:5], [0.9, 0.9, 0.9, 0.8, 0.8]).p == pytest.approx(0.2)
    # Differences in the last digits are none.
    assert trend(DAYS[:5], [0.5 + i * 1e-15 for i in range(5)]).p == 1.0


def test_enumerated_trends_agree_with_kendalls_exact_distribution() -> None:
    # S = 10 of n = 6: P(S >= 11) is .028 and P(S >= 9) is .068 by the published table, so an S of 11 has 2 x .0278.
    rising = trend(DAYS[:6], [1, 2, 3, 4, 6, 5])  # 14 rise, 1 falls: S = 13
    assert rising.p == pytest.approx(2 * 6 / 720)
    assert trend(DAYS[:6], [1, 2, 4, 3, 6, 5]).p == pytest.approx(2 * 20 / 720)  # S = 11


def test_more_values_go_by_the_normal_with_ties() -> None:
    values = [10.0, 12, 11, 14, 13, 13, 16, 15, 17, 18, 13]
    rising = trend(DAYS[:11], values)
    s = sum((b > a) - (b < a) for i, a in enumerate(values) for b in values[i + 1 :])
    variance = (11 * 10 * 27 - 3 * 2 * 11) / 18
    assert rising.rises - rising.falls == s
    from scipy.stats import norm

    assert rising.p == pytest.approx(2 * norm.sf((s - 1) / variance**0.5))


def test_the_slope_is_per_day_and_robust_to_outliers() -> None:
    rising = trend([0.0, 2, 4, 6, 8, 10], [0.0, 0.2, 0.4, 9.0, 0.8, 1.0])
    assert rising.slope == pytest.approx(0.1)
    assert trend([1.0] * 5, [1, 2, 3, 4, 5]).slope is None


@pytest.mark.marked
def test_false_alarms_are_as_rare_as_promised() -> None:
    import numpy as np

    draw = np.random.default_rng(1)
    for n in (5, 8, 12):
        alarms = [trend(DAYS[:n], list(draw.normal(size=n))).p <= 0.05 for _ in range(300)]
        assert np.mean(alarms) < 0.09
