"""All that is said of a sweep's points: of the chosen one, and of each.

The choice is made by the tuning questions alone. What it is worth is the value of the chosen point on the held-out
ones, by which nothing was chosen; its value on the tuning questions is that of the luckiest of many.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from recallbench.scoring.choice.best_set import BestSet, best_set, cheapest, raced_set
from recallbench.scoring.choice.front import front
from recallbench.scoring.choice.knee import WORTH, Knee, knee
from recallbench.scoring.choice.non_inferior import NonInferior, non_inferior
from recallbench.scoring.choice.points import ERROR
from recallbench.scoring.choice.race import Raced
from recallbench.scoring.choice.split import Split
from recallbench.scoring.editions import CURRENT
from recallbench.scoring.intervals import Interval, cluster_codes
from recallbench.scoring.judgement import Floats

MARGIN = 0.01
"""A point of recall in a hundred."""


@dataclass(frozen=True, slots=True)
class PointChoice:
    """What is said of one point; None where it was not asked, or where its price is not known."""

    tuning: float | None
    """Its mean on the tuning questions."""
    held_out: float | None
    """Its mean on the held-out ones: to be read of the chosen point alone."""
    in_set: bool
    """Whether it can't be told from the best."""
    non_inferior_p: float | None
    """That it is not worse than the best by the margin, corrected for the number of points."""
    front_share: float | None
    """The share of resamples in which it lies on the front."""
    knee_share: float | None
    """The share of resamples whose knee or end it is."""


@dataclass(frozen=True, slots=True)
class SweepChoice:
    """The choice among the points of a sweep; points are numbered as there."""

    chosen: int
    """The fastest point that is shown to be non-inferior, else the one seen best."""
    shown: bool
    """Whether it is shown to be non-inferior; else it is only the one seen best."""
    reason: str
    """How it was chosen, as a sentence without its stop."""
    held_out: float | None
    """The headline: its mean on the held-out questions; None where it was not asked them."""
    held_out_bounds: Interval
    optimism: float | None
    """Its mean on the tuning questions less that on the held-out ones."""
    best: int
    """The point seen best on the tuning questions."""
    best_set: BestSet
    front: tuple[int, ...]
    """The points on the front as measured, the fastest first."""
    knee: Knee | None
    """Over latency; its shares have an entry for each of `priced`. None without latencies."""
    margin: float
    smallest_p: float | None
    """The least p of non-inferiority that so many clusters reach; None without latencies."""
    resamples: int | None
    """Of front and knee."""
    eligible: tuple[int, ...]
    """The points that were chosen among."""
    priced: tuple[int, ...]
    """The points that front and knee are of: asked all tuning questions, with prices."""
    points: tuple[PointChoice, ...]
    """Every point of the sweep."""


def choose(
    values: Floats,
    split: Split,
    latencies: Sequence[float | None],
    costs: Sequence[float | None] | None = None,
    clusters: Sequence[str] | None = None,
    *,
    keeps_gates: Sequence[bool] | None = None,
    raced: Raced | None = None,
    margin: float = MARGIN,
    worth: float = WORTH,
    error: float = ERROR,
) -> SweepChoice | None:
    """Choose by values (points x questions; NaN is what was not asked); None where no point can be chosen.

    `raced` is a race over the tuning questions, in their order; its points alive are the set then. A point that misses
    a gate should have been withdrawn from it.
    """
    tuning = values[:, split.tuning]
    names = None if clusters is None else [name for name, is_in in zip(clusters, split.tuning, strict=True) if is_in]
    asked = np.isfinite(tuning).all(axis=1)
    gates = np.ones(len(values), dtype=np.bool_) if keeps_gates is None else np.asarray(keeps_gates, dtype=np.bool_)
    eligible = np.flatnonzero(asked & gates).tolist()
    if not eligible:
        return None
    the_set = _best_set(tuning, eligible, costs, names, raced, error)
    test = _non_inferior(tuning[eligible], [latencies[point] for point in eligible], margin, names, error)
    best = eligible[int(np.argmax(tuning[eligible].mean(axis=1)))]
    shown = test is not None and test.shown
    chosen = eligible[test.chosen] if test is not None and shown else best
    prices = [latencies] if costs is None else [latencies, costs]
    priced = [p for p in np.flatnonzero(asked).tolist() if all(price[p] is not None for price in prices)]
    paid = np.array([[price[point] for point in priced] for price in prices], dtype=np.float64)
    on_front = front(tuning[priced], paid.tolist(), names) if priced else None
    bend = knee(tuning[priced], paid[0].tolist(), names, worth=worth, error=error) if priced else None
    shares: dict[int, tuple[float, float]] = {}
    if on_front is not None and bend is not None:
        shares = dict(zip(priced, zip(on_front.shares, bend.shares, strict=True), strict=True))
    ps = {} if test is None else dict(zip(eligible, test.ps, strict=True))
    means = [_mean(row) for row in tuning]
    outside = [_mean(row) for row in values[:, split.held_out]]
    tuned, held_out = means[chosen], outside[chosen]
    return SweepChoice(
        chosen=chosen,
        shown=shown,
        reason=_reason(test, margin, error),
        held_out=held_out,
        held_out_bounds=_bounds(values[chosen], split, clusters),
        optimism=None if tuned is None or held_out is None else tuned - held_out,
        best=best,
        best_set=the_set,
        front=() if on_front is None else tuple(priced[place] for place in on_front.points),
        knee=bend if bend is None or bend.point is None else replace(bend, point=priced[bend.point]),
        margin=margin,
        smallest_p=None if test is None else test.smallest_p,
        resamples=None if on_front is None else on_front.resamples,
        eligible=tuple(eligible),
        priced=tuple(priced),
        points=tuple(
            PointChoice(
                tuning=means[point],
                held_out=outside[point],
                in_set=point in the_set.points,
                non_inferior_p=ps.get(point),
                front_share=shares[point][0] if point in shares else None,
                knee_share=shares[point][1] if point in shares else None,
            )
            for point in range(len(values))
        ),
    )


def _best_set(
    tuning: Floats,
    eligible: Sequence[int],
    costs: Sequence[float | None] | None,
    names: Sequence[str] | None,
    raced: Raced | None,
    error: float,
) -> BestSet:
    if raced is not None:
        return raced_set(replace(raced, alive=tuple(p for p in raced.alive if p in eligible)), tuning, costs)
    found = best_set(tuning[eligible], names, error=error)
    points = tuple(eligible[place] for place in found.points)
    return replace(found, points=points, cheapest=cheapest(points, costs))


def _non_inferior(
    values: Floats, latencies: Sequence[float | None], margin: float, names: Sequence[str] | None, error: float
) -> NonInferior | None:
    """Test the points; one without a latency is compared with, and is the last to be chosen."""
    if all(latency is None for latency in latencies):
        return None
    slowest = [float("inf") if latency is None else latency for latency in latencies]
    return non_inferior(values, slowest, margin, names, error=error)


def _reason(test: NonInferior | None, margin: float, error: float) -> str:
    if test is None:
        return "the point seen best: no latency is known to choose by"
    if test.shown:
        return f"the fastest point that is not worse than the best by {margin:g} (confidence {test.confidence:.0%})"
    if test.smallest_p > error:
        units = f"{test.clusters} cluster{'' if test.clusters == 1 else 's'}"
        return f"the point seen best: {units} can't show any to be non-inferior (p {test.smallest_p:.2g} at best)"
    return f"the point seen best: no point is shown to be within {margin:g} of the best"


def _mean(row: Floats) -> float | None:
    return float(row.mean()) if len(row) and np.isfinite(row).all() else None


def _bounds(row: Floats, split: Split, clusters: Sequence[str] | None) -> Interval:
    """Return the interval of a point's mean on the held-out questions."""
    held_out = row[split.held_out]
    if _mean(held_out) is None:
        return Interval(None, None, "n/a (not asked)")
    names = [name for name, is_out in zip(clusters or [""] * len(row), split.held_out, strict=True) if is_out]
    binary = bool(np.isin(held_out, (0.0, 1.0)).all())
    return CURRENT.means(held_out[:, None], [binary], cluster_codes(names))[0]
