"""A quantile of single measurements, such as the p95 of a latency, and its interval."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np

from recallbench.scoring.distributions import binomial_probabilities
from recallbench.scoring.intervals import LEVEL, Interval

Rule = Literal["nearest-rank", "index"]
"""The definition of a quantile: the smallest value that enough do not exceed, or sorted[int(share * n)]."""
NEAREST_RANK: Rule = "nearest-rank"
RULES: tuple[Rule, ...] = get_args(Rule)


def place(n: int, share: float, rule: Rule = NEAREST_RANK) -> int:
    """Return the index of the quantile among n sorted values; n is at least 1."""
    if rule == "index":
        return min(int(share * n), n - 1)
    return max(1, math.ceil(share * n - 1e-9)) - 1


def quantile(values: Sequence[float], share: float, rule: Rule = NEAREST_RANK) -> float | None:
    """Return the smallest value that at least this share does not exceed; None without values.

    By the rule "index" it is sorted[int(share * n)], which is one further up wherever share * n is a whole number.
    """
    ordered = sorted(values)
    return ordered[place(len(ordered), share, rule)] if ordered else None


def fewest_for_bound(share: float, level: float = LEVEL) -> int:
    """Return how many values it takes for the largest of them to lie above the quantile with this probability."""
    return math.ceil(math.log(1 - level) / math.log(share))


def quantile_interval(values: Sequence[float], share: float, level: float = LEVEL) -> Interval:
    """Return two of the values as bounds, for any distribution; None for a bound that takes more values."""
    ordered, n = sorted(values), len(values)
    tail = (1 - level) / 2
    # The r-th smallest lies above the quantile when fewer than r values lie below it: a binomial count.
    probabilities = binomial_probabilities(n, share) if n else np.empty(0)
    low = int(np.searchsorted(probabilities, tail, side="right"))
    high = int(np.searchsorted(probabilities, 1 - tail)) + 1
    if low < 1 and high > n:
        return Interval(None, None, f"n/a ({n} values are too few)")
    method = f"order statistics {100 * level:.3g}% of {n} values" + (", no upper bound with so few" if high > n else "")
    return Interval(ordered[low - 1] if low >= 1 else None, ordered[high - 1] if high <= n else None, method)
