"""A quantile of single measurements, such as the p95 of a latency, and its interval."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from recallbench.scoring.distributions import binomial_probabilities
from recallbench.scoring.intervals import LEVEL, Interval

Rule = Literal["nearest-rank", "index", "linear"]
"""The definition of a quantile: the smallest value that enough do not exceed; sorted[int(share * n)]; or between the
two values around place share * (n - 1), as numpy and Excel's PERCENTILE.INC have it."""
NEAREST_RANK: Rule = "nearest-rank"
RULES: tuple[Rule, ...] = get_args(Rule)
EACH_BOUND = 2 * LEVEL - 1
"""The level of an interval each of whose ends is exceeded in half of what both may miss: it holds with LEVEL."""


@dataclass(frozen=True, slots=True)
class Percentile:
    """A percentile of measured values, between bounds of which each holds with LEVEL."""

    share: float
    value: float
    low: float | None
    high: float | None
    """None where the values are too few for a bound."""


def place(n: int, share: float, rule: Rule = NEAREST_RANK) -> tuple[int, float]:
    """Return the index of the quantile among n sorted values, and how far it lies towards the next; n is at least 1."""
    if rule == "linear":
        index, further = divmod(share * (n - 1), 1)
        return int(index), further
    if rule == "index":
        return min(int(share * n), n - 1), 0.0
    return max(1, math.ceil(share * n - 1e-9)) - 1, 0.0


def between(value: float, following: float, further: float) -> float:
    """Return the value that lies this far towards the following one, either of which may be infinite."""
    return value if further == 0 or value == following else value + further * (following - value)


def quantile(values: Sequence[float], share: float, rule: Rule = NEAREST_RANK) -> float | None:
    """Return the smallest value that at least this share does not exceed, or by another rule; None without values.

    By the rule "index" it is one value further up wherever share * n is a whole number.
    """
    ordered = sorted(values)
    if not ordered:
        return None
    index, further = place(len(ordered), share, rule)
    return between(ordered[index], ordered[min(index + 1, len(ordered) - 1)], further)


def percentiles(values: Sequence[float], shares: Sequence[float], rule: Rule = NEAREST_RANK) -> list[Percentile]:
    """Return each percentile with its bounds by order statistics; none without values."""
    found = []
    for share in shares if values else ():
        bounds = quantile_interval(values, share, EACH_BOUND)
        value = quantile(values, share, rule)
        assert value is not None
        found.append(Percentile(share, value, bounds.low, bounds.high))
    return found


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
