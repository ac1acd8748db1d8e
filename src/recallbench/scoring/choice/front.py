"""The Pareto front: the points that no other point beats in quality, latency and cost at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from recallbench.scoring.choice.points import RESAMPLES, point_totals
from recallbench.scoring.judgement import Bools, Floats

_EQUAL = 1e-12
_CELLS = 1 << 22


@dataclass(frozen=True, slots=True)
class Front:
    """Which points lie on the front, and how surely."""

    points: tuple[int, ...]
    """On the front as measured; the least of the first price first."""
    shares: tuple[float, ...]
    """Of every point: the share of resamples of the questions with it on the front, prices as measured."""
    resamples: int
    clusters: int
    unit: str
    """What was drawn with replacement: "cluster" or "question"."""


def front(
    values: Floats,
    prices: Sequence[Sequence[float]],
    clusters: Sequence[str] | None = None,
    *,
    resamples: int = RESAMPLES,
) -> Front:
    """Return the front of values (points x questions, more is better) and prices, each with an entry per point.

    Prices are what is better when less, as latency and cost; they are taken as measured, only clusters are resampled.
    """
    totals = point_totals(values, clusters)
    paid = np.asarray(prices, dtype=np.float64)
    if paid.ndim != 2 or paid.shape[1] != len(values) or not np.isfinite(paid).all():
        raise ValueError(f"prices of {paid.shape} are not one or several per point of {len(values)}")
    seen = on_front(totals.means[None], paid)[0]
    drawn = totals.resampled_means(resamples)
    step = max(1, _CELLS // len(values) ** 2)
    times = np.zeros(len(values), dtype=np.int64)
    for start in range(0, resamples, step):
        times += on_front(drawn[start : start + step], paid).sum(axis=0)
    return Front(
        points=tuple(sorted(np.flatnonzero(seen).tolist(), key=lambda point: (paid[0, point], point))),
        shares=tuple((times / resamples).tolist()),
        resamples=resamples,
        clusters=len(totals.counts),
        unit=totals.unit,
    )


def on_front(means: Floats, prices: Floats) -> Bools:
    """Return (rows x points): whether no point is as good in everything and better in something.

    `means` has a row for each resample, `prices` (prices x points) are the same for all.
    """
    # [i, j]: j against i
    as_cheap = (prices[:, None, :] <= prices[:, :, None]).all(axis=0)
    cheaper = as_cheap & (prices[:, None, :] < prices[:, :, None]).any(axis=0)
    better = means[:, None, :] - means[:, :, None]
    beaten = (as_cheap & (better > _EQUAL)) | (cheaper & (better >= -_EQUAL))
    return np.asarray(~beaten.any(axis=2))
