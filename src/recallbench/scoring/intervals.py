"""95% intervals: of a share, of a difference of shares, and t over clusters."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from recallbench.scoring.distributions import normal_quantile, t_quantile
from recallbench.scoring.judgement import Floats, Ints

LEVEL = 0.95
SEED = 42


@dataclass(frozen=True, slots=True)
class Interval:
    """Bounds of a mean and the method that gave them; None where no honest bounds exist, and `method` says why."""

    low: float | None
    high: float | None
    method: str
    design_effect: float | None = None
    """The variance of the mean with clusters, over that of independent questions."""


def cluster_codes(clusters: Sequence[str]) -> Ints | None:
    """Return a number per question, equal within a cluster; an empty name is a cluster of its own. None if all are."""
    numbers: dict[str, int] = {}
    codes = np.array(
        [numbers.setdefault(name, len(numbers)) if name else -1 - i for i, name in enumerate(clusters)], dtype=np.int64
    )
    return codes if len(np.unique(codes)) < len(codes) else None


def is_too_short(value: float | None, design_effect: float | None) -> bool:
    """Return whether an interval covers less often than 95%: a few clusters decide a value near 0 or 1.

    They show too little of how far another cluster may lie from them. With ten clusters and a design effect of 20 an
    interval covers .974 in 92% of samples, and .99 in 84% (tests/scoring/test_coverage.py).
    """
    return value is not None and design_effect is not None and design_effect > 5 and not 0.04 <= value <= 0.96


def wilson(successes: float, n: int) -> Interval:
    """Return Wilson's score interval for a share of independent questions."""
    if n == 0:
        return Interval(None, None, "n/a (no question)")
    return Interval(*wilson_bounds(successes / n, n), "Wilson 95%")


def wilson_bounds(share: float, trials: float) -> tuple[float, float]:
    """Return the ends of Wilson's interval for a share of so many trials, which need not be a whole number."""
    z = normal_quantile(0.5 + LEVEL / 2)
    centre = (share + z * z / (2 * trials)) / (1 + z * z / trials)
    half = z / (1 + z * z / trials) * float(np.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials)))
    # At the ends the formula gives exactly 0 or 1, but for rounding.
    low = 0.0 if share <= 0 else max(0.0, centre - half)
    high = 1.0 if share >= 1 else min(1.0, centre + half)
    return low, high


def score_difference(wins: float, losses: float, n: int) -> Interval:
    """Return Tango's score interval for the difference of two shares over the same n independent questions.

    `wins` are the questions that only the second has, `losses` those that only the first has. What Wilson's interval
    is for one share: where the score test is just rejected.
    """
    if n == 0:
        return Interval(None, None, "n/a (no question)")
    z = normal_quantile(0.5 + LEVEL / 2)

    def score(difference: float) -> float:
        # The share of losses that is likeliest if the difference were this one.
        b = (2 * n - wins + losses) * difference - wins - losses
        c = -losses * difference * (1 - difference)
        likeliest = (math.sqrt(max(0.0, b * b - 8 * n * c)) - b) / (4 * n)
        spread = n * (2 * likeliest + difference * (1 - difference))
        distance = wins - losses - n * difference
        return distance / math.sqrt(spread) if spread > 0 else math.copysign(math.inf, distance)

    def bound(target: float, low: float, high: float) -> float:
        for _ in range(60):  # halves the bracket to the last digit; the score falls as the difference grows
            middle = (low + high) / 2
            low, high = (middle, high) if score(middle) > target else (low, middle)
        return (low + high) / 2

    observed = (wins - losses) / n
    return Interval(bound(z, -1.0, observed), bound(-z, observed, 1.0), "score 95% of paired shares (Tango)")


def clustered(values: Floats, clusters: Ints) -> Interval:
    """Return the interval of t with G-1 degrees of freedom over the cluster-robust standard error of the mean.

    The mean is a ratio (sum over count), linearised: the variance is G/(G-1) times the sum, over clusters, of the
    squared total of residuals, over n squared.
    """
    n = len(values)
    if n == 0:
        return Interval(None, None, "n/a (no question)")
    mean = float(values.mean())
    return clustered_sum(mean, (values - mean) / n, clusters, float(values.var(ddof=1)) / n if n > 1 else 0.0)


def clustered_sum(centre: float, influence: Floats, clusters: Ints, independent: float) -> Interval:
    """Return the interval of `centre` plus a sum of influences; `independent` is its variance under independence."""
    names, index = np.unique(clusters, return_inverse=True)
    groups = len(names)
    if groups < 2:
        return Interval(None, None, "n/a (one cluster)")
    totals = np.bincount(index, weights=influence, minlength=groups)
    variance = groups / (groups - 1) * float(totals @ totals)
    effect = variance / independent if independent > 0 else None
    # Equal clusters leave nothing but rounding; an interval of no width would claim certainty.
    if variance <= (1e-12) ** 2:
        why = "all questions equal" if effect is None else "all clusters equal"
        return Interval(None, None, f"n/a ({why})", effect)
    half = t_quantile(groups - 1, 0.5 + LEVEL / 2) * float(np.sqrt(variance))
    method = f"t({groups - 1}) 95%, cluster-robust over {groups} clusters"
    return Interval(max(0.0, centre - half), min(1.0, centre + half), method, effect)
