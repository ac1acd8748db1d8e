"""Whether values rise or fall over time: Mann and Kendall's test, and Theil and Sen's slope."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, permutations

import numpy as np

from recallbench.scoring.judgement import Floats

FEWEST = 5
"""With four values in strict order p is still 2/24: no test could find a trend."""
ENUMERATED = 8
"""Up to so many values every order is looked at: 40,320 of them."""
_EQUAL = 1e-12


@dataclass(frozen=True, slots=True)
class Trend:
    """A two-sided test of no trend. `rises` and `falls` count pairs of values; equal ones count in neither."""

    n: int
    rises: int
    falls: int
    p: float | None
    """None where there are too few values."""
    method: str
    slope: float | None
    """The median slope over all pairs, per unit of time; None where no two times differ."""


def trend(times: Sequence[float], values: Sequence[float]) -> Trend:
    """The values in the order of their times, which must not decrease."""
    n = len(values)
    found = np.asarray(values, dtype=np.float64)
    signs = [_sign(found[j] - found[i]) for i, j in combinations(range(n), 2)]
    rises, falls = signs.count(1), signs.count(-1)
    if n < FEWEST:
        p, method = None, f"n/a ({n} {'result' if n == 1 else 'results'}: fewer than {FEWEST} show no trend)"
    elif not rises and not falls:
        p, method = 1.0, "all values equal"
    elif n <= ENUMERATED:
        p, method = _exact(found, abs(rises - falls)), f"Mann-Kendall, all {math.factorial(n):,} orders"
    else:
        p, method = _normal(found, rises - falls), "Mann-Kendall, normal with correction for ties"
    slopes = [
        (values[j] - values[i]) / (times[j] - times[i])
        for i, j in combinations(range(n), 2)
        if times[j] > times[i]
    ]  # fmt: skip
    return Trend(n, rises, falls, p, method, float(np.median(slopes)) if slopes else None)


def _sign(difference: float) -> int:
    return 0 if abs(difference) < _EQUAL else 1 if difference > 0 else -1


def _exact(values: Floats, reached: int) -> float:
    """The share of all orders of these values whose S is as far from 0."""
    orders = np.array(list(permutations(values.tolist())))
    sums = np.zeros(len(orders), dtype=np.int64)
    for i, j in combinations(range(len(values)), 2):
        moved = orders[:, j] - orders[:, i]
        sums += np.where(np.abs(moved) < _EQUAL, 0, np.sign(moved)).astype(np.int64)
    return float((np.abs(sums) >= reached).mean())


def _normal(values: Floats, s: int) -> float:
    n = len(values)
    ordered = np.sort(values)
    # Values closer than rounding are one value; `ties` has how often each occurs.
    ties = np.bincount(np.concatenate([[0], np.cumsum(np.diff(ordered) >= _EQUAL)]))
    variance = (n * (n - 1) * (2 * n + 5) - float((ties * (ties - 1) * (2 * ties + 5)).sum())) / 18
    z = max(0.0, abs(s) - 1) / math.sqrt(variance)
    return math.erfc(z / math.sqrt(2))
