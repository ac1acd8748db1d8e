"""Percentiles of times that follow one another, in which a stall makes neighbours alike."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from recallbench.scoring.intervals import SEED
from recallbench.scoring.quantiles import EACH_BOUND, fewest_for_bound, place, quantile, quantile_interval

RESAMPLES = 500
INTERVAL = (
    "bounds of 95% each: the wider of order statistics, which take calls for independent, and of a bootstrap of blocks "
    f"of consecutive calls, each as long as the square root of n ({RESAMPLES} resamples, seed {SEED}); no upper bound "
    "with fewer calls than order statistics need, 59 for p95 and 299 for p99"
)


@dataclass(frozen=True, slots=True)
class LoadPercentile:
    """A percentile of the times of a level, in milliseconds."""

    share: float
    value: float | None
    """None where nothing was timed."""
    low: float | None
    high: float | None
    at_least: bool = False
    """The value is a lower bound: calls that had no answer could raise it."""


def load_percentiles(
    times: Sequence[float], unanswered: Sequence[float], shares: Sequence[float], seed: int = SEED
) -> list[LoadPercentile]:
    """Return each percentile of the times, which are given in their order.

    The unanswered calls have waited that long already, and nobody knows how much longer they would have.
    """
    every = [*times, *unanswered]
    most = [*times, *[math.inf] * len(unanswered)]
    if not every:
        return [LoadPercentile(share, None, None, None) for share in shares]
    blocks = _block_bounds(every, shares, seed)
    found = []
    for share, (low, high) in zip(shares, blocks, strict=True):
        value = quantile(every, share)
        ranks = quantile_interval(every, share, EACH_BOUND)
        at_least = quantile(most, share) != value
        open_ended = at_least or ranks.high is None or len(every) < fewest_for_bound(share)
        if not open_ended and unanswered:
            above = quantile_interval(most, share, EACH_BOUND).high
            open_ended = above is None or math.isinf(above)
        found.append(
            LoadPercentile(
                share,
                value,
                None if ranks.low is None else min(ranks.low, low),
                None if open_ended or ranks.high is None else max(ranks.high, high),
                at_least,
            )
        )
    return found


def _block_bounds(times: Sequence[float], shares: Sequence[float], seed: int) -> list[tuple[float, float]]:
    """Return for each share the bounds that resampled blocks of consecutive times give; the last joins the first."""
    values = np.asarray(times, dtype=np.float64)
    n = len(values)
    length = max(1, math.isqrt(n))
    blocks = -(-n // length)
    draw = np.random.default_rng(seed)
    places = [place(n, share)[0] for share in shares]
    ring = np.concatenate([values, values[:length]])
    within = np.arange(length)
    reached = np.empty((RESAMPLES, len(shares)))
    for i in range(RESAMPLES):
        starts = draw.integers(0, n, blocks)
        resampled = ring[(starts[:, None] + within).ravel()[:n]]
        reached[i] = np.partition(resampled, sorted(set(places)))[places]
    tail = (1 - EACH_BOUND) / 2
    reached.sort(axis=0)
    first, last = math.ceil(tail * RESAMPLES) - 1, math.ceil((1 - tail) * RESAMPLES) - 1
    return [(float(column[first]), float(column[last])) for column in reached.T]
