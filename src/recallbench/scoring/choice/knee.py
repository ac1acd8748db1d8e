"""The knee of a curve: where a further doubling of the price no longer gains what it is worth.

It is the point with the highest value - worth x log2(price). Kneedle's knee is where the curve departs most from the
line between its ends, so a point added far out moves it. This one stays, whatever is added, unless the new point itself
is the better bargain. Who holds a doubling worth another gain has another knee, so it is said beside it.

At an end of the curve there is no knee: what lies beyond was not seen. Nor is there one where the curve can't be told
from a straight line: the point's height above the line between both ends is compared with the greatest height of any
point under the same signs of the clusters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from recallbench.scoring.choice.points import ERROR, RESAMPLES, PointTotals, point_totals, without_hopeless
from recallbench.scoring.judgement import Floats, Ints
from recallbench.scoring.sign_flips import flipped_sums

WORTH = 0.01
"""A point of recall in a hundred."""
_EQUAL = 1e-12
_WITHIN = (0.025, 0.975)


@dataclass(frozen=True, slots=True)
class Knee:
    """The knee of values over prices, or why there is none."""

    point: int | None
    """None where there is no knee."""
    reason: str
    """Why there is none, as a sentence without its stop; empty with a knee."""
    support: float
    """The share of resamples whose best bargain is the point seen, at an end or not."""
    p: float
    """Of a straight line; 1 where the point seen is an end."""
    shares: tuple[float, ...]
    """The share of resamples of each point."""
    low: float
    """Between these prices lie 95% of the resampled knees."""
    high: float
    worth: float
    """What a doubling of the price must gain."""
    resamples: int
    clusters: int
    unit: str


def knee(
    values: Floats,
    prices: Sequence[float],
    clusters: Sequence[str] | None = None,
    *,
    worth: float = WORTH,
    resamples: int = RESAMPLES,
    error: float = ERROR,
) -> Knee:
    """Find the knee of values (points x questions) over a price of each point, as its latency; prices are above 0."""
    paid = np.asarray(prices, dtype=np.float64)
    if paid.shape != (len(values),) or not (np.isfinite(paid) & (paid > 0)).all():
        raise ValueError(f"{len(values)} points need as many prices above 0")
    if not worth > 0:
        raise ValueError(f"a doubling that is worth {worth} has no knee")
    totals = point_totals(values, clusters)
    seen = int(_bargains(totals.means[None], paid, worth)[0])
    drawn = _bargains(totals.resampled_means(resamples), paid, worth)
    shares = np.bincount(drawn, minlength=len(paid)) / resamples
    p = _straight(totals, paid, seen)
    low, high = np.quantile(paid[drawn], _WITHIN, method="nearest").tolist()
    reason = _why_none(paid, seen, worth, p, error)
    return Knee(
        point=None if reason else seen,
        reason=reason,
        support=float(shares[seen]),
        p=p,
        shares=tuple(shares.tolist()),
        low=low,
        high=high,
        worth=worth,
        resamples=resamples,
        clusters=len(totals.counts),
        unit=totals.unit,
    )


def _bargains(means: Floats, prices: Floats, worth: float) -> Ints:
    """Return the point of each row (rows x points) that is the best bargain, the cheapest of equal ones."""
    order = np.argsort(prices, kind="stable")
    gains = (means - worth * np.log2(prices / prices.min()))[:, order]
    best: Ints = order[(gains >= gains.max(axis=1, keepdims=True) - _EQUAL).argmax(axis=1)]
    return best


def _straight(points: PointTotals, prices: Floats, seen: int) -> float:
    """Return the p of the point's height above the line between the cheapest and the dearest."""
    if prices[seen] in (prices.min(), prices.max()):
        return 1.0
    totals, groups = points.totals, len(points.counts)
    order = np.lexsort((-totals.sum(axis=0), prices))
    # Of several points at one end the best is the end.
    first, last = order[0], order[np.searchsorted(prices[order], prices.max())]
    along = np.log2(prices / prices[first]) / np.log2(prices[last] / prices[first])
    line = totals[:, [first]] * (1 - along) + totals[:, [last]] * along
    inner = (prices > prices.min()) & (prices < prices.max())
    heights = np.column_stack([totals[:, seen] - line[:, seen], (totals - line)[:, inner]])
    sums = flipped_sums(np.column_stack([heights, points.counts]))
    flipped = without_hopeless(sums[:, :-1], sums[:, -1], groups)
    return float((flipped.max(axis=1) >= flipped[0, 0] - 1e-9).mean())


def _why_none(prices: Floats, seen: int, worth: float, p: float, error: float) -> str:
    if len(np.unique(prices)) < 3:
        return "no knee: a curve has three prices or more"
    if prices[seen] == prices.min():
        return f"no knee: nothing beyond the cheapest point gains {worth:g} for each doubling"
    if prices[seen] == prices.max():
        return f"no knee: up to the dearest point a doubling gains {worth:g} or more"
    if p > error:
        return f"no knee: the curve can't be told from a straight line (p = {p:.2g})"
    return ""
