"""The trend of values over time: Mann and Kendall's test, with Theil and Sen's slope."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations, permutations

import numpy as np

from recallbench.scoring.judgement import Floats, Ints

FEWEST = 5
"""Fewer values show no trend: with four in strict order p is still 2/24."""
ENUMERATED = 8
"""The most values whose orders are all enumerated: 40,320."""
_EQUAL = 1e-12


@dataclass(frozen=True, slots=True)
class Trend:
    """A two-sided test of no trend. `rises` and `falls` count pairs of values; equal pairs are in neither."""

    n: int
    rises: int
    falls: int
    p: float | None
    """None where there are too few values."""
    method: str
    slope: float | None
    """The median slope over all pairs, per unit of time; None where no two times differ."""


def trend(times: Sequence[float], values: Sequence[float]) -> Trend:
    """Test values in the order of their times, which must not decrease."""
    n = len(values)
    series = np.asarray(values, dtype=np.float64)
    signs = [_sign(series[j] - series[i]) for i, j in combinations(range(n), 2)]
    rises, falls = signs.count(1), signs.count(-1)
    if n < FEWEST:
        p, method = None, f"n/a ({n} {'result' if n == 1 else 'results'}: fewer than {FEWEST} show no trend)"
    elif not rises and not falls:
        p, method = 1.0, "all values equal"
    elif n <= ENUMERATED:
        p, method = _exact(series, abs(rises - falls)), f"Mann-Kendall, all {math.factorial(n):,} orders"
    else:
        p, method = _normal(series, rises - falls), "Mann-Kendall, normal with correction for ties"
    slopes = [
        (values[j] - values[i]) / (times[j] - times[i])
        for i, j in combinations(range(n), 2)
        if times[j] > times[i]
    ]  # fmt: skip
    return Trend(n, rises, falls, p, method, float(np.median(slopes)) if slopes else None)


def _sign(difference: float) -> int:
    return 0 if abs(difference) < _EQUAL else 1 if difference > 0 else -1


def _exact(values: Floats, score: int) -> float:
    """Return the share of all orders of these values whose score is as far from 0."""
    return float((np.abs(_scores_of_orders(tuple(_ties(values).tolist()))) >= score).mean())


@cache
def _scores_of_orders(ties: tuple[int, ...]) -> Ints:
    """Return the score of every order: pairs that rise less pairs that fall. Only ties between values matter to it."""
    ranks = np.repeat(np.arange(len(ties)), ties)
    orders = np.array(list(permutations(ranks.tolist())))
    scores = np.zeros(len(orders), dtype=np.int64)
    for i, j in combinations(range(len(ranks)), 2):
        scores += np.sign(orders[:, j] - orders[:, i])
    return scores


def _normal(values: Floats, score: int) -> float:
    n, ties = len(values), _ties(values)
    variance = (n * (n - 1) * (2 * n + 5) - float((ties * (ties - 1) * (2 * ties + 5)).sum())) / 18
    z = max(0.0, abs(score) - 1) / math.sqrt(variance)
    return math.erfc(z / math.sqrt(2))


def _ties(values: Floats) -> Ints:
    """Return how often each distinct value occurs; values that differ by rounding are equal."""
    return np.bincount(np.concatenate([[0], np.cumsum(np.diff(np.sort(values)) >= _EQUAL)]))
