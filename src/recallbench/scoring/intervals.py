"""How sure a mean over questions is: 95% intervals, and what clustering costs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from recallbench.scoring.judgement import Floats, Ints

LEVEL = 0.95
RESAMPLES = 2000
SEED = 42
_CELLS = 1 << 22
"""Resampling weights held at a time: 32 MB, however many questions there are."""


@dataclass(frozen=True, slots=True)
class Interval:
    """Bounds of a mean and how they were found; None where honest bounds can't be given, and `method` says why."""

    low: float | None
    high: float | None
    method: str
    design_effect: float | None = None
    """Variance of the mean with clusters respected, over what it were if questions were independent."""


def intervals(values: Floats, binary: Sequence[bool], clusters: Ints | None) -> list[Interval]:
    """One interval for the mean of each column of `values` (questions x measures).

    Where no two questions share a cluster: Wilson for binary columns, percentile bootstrap for the others. Where
    questions do: t with G-1 degrees of freedom over the cluster-robust standard error, whatever the column (a bootstrap
    over few clusters covers too little, and Wilson assumes independence).
    """
    if clusters is not None and len(np.unique(clusters)) < len(values):
        return [clustered(column, clusters) for column in values.T]
    rest = iter(bootstrap(values[:, [not one for one in binary]]))
    return [
        wilson(float(column.sum()), len(column)) if one else next(rest)
        for one, column in zip(binary, values.T, strict=True)
    ]


def cluster_codes(clusters: Sequence[str]) -> Ints | None:
    """A number per question, equal where the cluster is; an empty name stands alone. None when all stand alone."""
    numbers: dict[str, int] = {}
    codes = np.array(
        [numbers.setdefault(name, len(numbers)) if name else -1 - i for i, name in enumerate(clusters)], dtype=np.int64
    )
    return codes if len(np.unique(codes)) < len(codes) else None


def wilson(successes: float, n: int) -> Interval:
    """Wilson's score interval for a share of independent questions."""
    if n == 0:
        return Interval(None, None, "n/a (no question)")
    from scipy.special import ndtri

    z = float(ndtri(0.5 + LEVEL / 2))
    share = successes / n
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * float(np.sqrt(share * (1 - share) / n + z * z / (4 * n * n)))
    # At the ends the formula gives exactly 0 or 1, but for rounding.
    low = 0.0 if successes == 0 else max(0.0, centre - half)
    high = 1.0 if successes == n else min(1.0, centre + half)
    return Interval(low, high, "Wilson 95%")


def score_difference(wins: int, losses: int, n: int) -> Interval:
    """Tango's score interval for the difference of two shares over the same n independent questions.

    `wins` are the questions that only the second has, `losses` those that only the first has. What Wilson's interval
    is for one share: where the score test is just rejected.
    """
    if n == 0:
        return Interval(None, None, "n/a (no question)")
    from scipy.special import ndtri

    z = float(ndtri(0.5 + LEVEL / 2))

    def score(difference: float) -> float:
        # The share of losses that is likeliest if the difference were this one.
        b = (2 * n - wins + losses) * difference - wins - losses
        c = -losses * difference * (1 - difference)
        likeliest = (math.sqrt(max(0.0, b * b - 8 * n * c)) - b) / (4 * n)
        spread = n * (2 * likeliest + difference * (1 - difference))
        distance = wins - losses - n * difference
        return distance / math.sqrt(spread) if spread > 0 else math.copysign(math.inf, distance)

    def bound(wanted: float, low: float, high: float) -> float:
        for _ in range(60):  # halves the bracket to the last digit; the score falls as the difference grows
            middle = (low + high) / 2
            low, high = (middle, high) if score(middle) > wanted else (low, middle)
        return (low + high) / 2

    found = (wins - losses) / n
    return Interval(bound(z, -1.0, found), bound(-z, found, 1.0), "score 95% of paired shares (Tango)")


def bootstrap(values: Floats) -> list[Interval]:
    """Percentile bootstrap of each column's mean: 2,000 resamples of whole questions, seed 42, all columns together."""
    n, columns = values.shape
    if n < 2:
        return [Interval(None, None, f"n/a ({'one question' if n else 'no question'})")] * columns
    varies = np.ptp(values, axis=0) > 0
    bounds = np.empty((2, columns))
    if varies.any():
        tail = (1 - LEVEL) / 2
        bounds[:, varies] = np.quantile(_resampled_means(values[:, varies]), (tail, 1 - tail), axis=0)
    bounds = np.clip(bounds, 0.0, 1.0)
    method = f"percentile bootstrap 95% ({RESAMPLES:,} resamples, seed {SEED})"
    return [
        Interval(float(low), float(high), method) if moves else Interval(None, None, "n/a (all questions equal)")
        for moves, low, high in zip(varies, *bounds, strict=True)
    ]


def clustered(values: Floats, clusters: Ints) -> Interval:
    """t with G-1 degrees of freedom over the cluster-robust standard error of the mean.

    The mean is a ratio (sum over count), linearised: the variance is G/(G-1) times the sum, over clusters, of the
    squared total of residuals, over n squared.
    """
    n = len(values)
    if n == 0:
        return Interval(None, None, "n/a (no question)")
    mean = float(values.mean())
    return clustered_sum(mean, (values - mean) / n, clusters, float(values.var(ddof=1)) / n if n > 1 else 0.0)


def clustered_sum(centre: float, influence: Floats, clusters: Ints, independent: float) -> Interval:
    """The same for any statistic that is `centre` plus a sum of influences, with its variance under independence."""
    from scipy.special import stdtrit

    found, index = np.unique(clusters, return_inverse=True)
    groups = len(found)
    if groups < 2:
        return Interval(None, None, "n/a (one cluster)")
    totals = np.bincount(index, weights=influence, minlength=groups)
    variance = groups / (groups - 1) * float(totals @ totals)
    effect = variance / independent if independent > 0 else None
    # Equal clusters leave nothing but rounding; an interval of no width would claim certainty.
    if variance <= (1e-12) ** 2:
        why = "all questions equal" if effect is None else "all clusters equal"
        return Interval(None, None, f"n/a ({why})", effect)
    half = float(stdtrit(groups - 1, 0.5 + LEVEL / 2)) * float(np.sqrt(variance))
    method = f"t({groups - 1}) 95%, cluster-robust over {groups} clusters"
    return Interval(max(0.0, centre - half), min(1.0, centre + half), method, effect)


def _resampled_means(values: Floats) -> Floats:
    """(resamples x columns): each resample draws as many questions as there are, with replacement."""
    n, columns = values.shape
    draw = np.random.default_rng(SEED)
    kind: npt.DTypeLike = np.uint16 if n <= 1 << 16 else np.uint32
    means = np.empty((RESAMPLES, columns))
    # How often each question was drawn, times the values, is one matrix product for all measures.
    step = max(1, min(RESAMPLES, _CELLS // n))
    times = np.empty((step, n))
    for start in range(0, RESAMPLES, step):
        rows = min(step, RESAMPLES - start)
        for row in range(rows):
            times[row] = np.bincount(draw.integers(0, n, n, dtype=kind), minlength=n)
        means[start : start + rows] = times[:rows] @ values / n
    return means
