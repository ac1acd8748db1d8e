"""The fastest point that is not worse than the best by more than a margin: the default choice of a sweep.

Which point is the best is not known either. So a point must be shown to be non-inferior to every other one (an
intersection-union test, which needs no correction), and against each of them all points are tested together: the
sums over clusters, raised by the margin, are compared with the largest sum of any point under the same signs, stepping
down from the highest. So with probability 1 - error no point that is worse by more than the margin is called
non-inferior, however many there are and however one of them is then chosen.

Signs are exchanged as if a cluster's difference were as likely on either side of the margin. With few questions in a
cluster and a wide margin it is not quite: of ten clusters with 40 questions each and a margin of .09, one sweep in 14
called one of 20 points non-inferior that lie just at the margin; with 150 questions each one in 22.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from recallbench.scoring.choice.points import ERROR, point_totals, without_hopeless
from recallbench.scoring.judgement import Floats
from recallbench.scoring.sign_flips import flip_count, flipped_sums, flips_method

_EQUAL = 1e-9


@dataclass(frozen=True, slots=True)
class NonInferior:
    """The choice by non-inferiority, and what it rests on."""

    chosen: int
    """The fastest point that is shown to be non-inferior; where none is, the one seen best, the fastest of equals."""
    shown: bool
    """Whether the chosen point is shown to be non-inferior to all others; else it is only the one seen best."""
    best: int
    """The point seen best."""
    margin: float
    differences: tuple[float, ...]
    """The mean of each point less that of the one seen best."""
    ps: tuple[float, ...]
    """The p of each point, corrected for the number of points: at most `error` is shown to be non-inferior."""
    smallest_p: float
    """The least p that so many clusters could reach; above `error` nothing can be shown."""
    clusters: int
    confidence: float
    method: str

    @property
    def non_inferior(self) -> tuple[int, ...]:
        """Return the points that are shown to be non-inferior, in their own order."""
        return tuple(point for point, p in enumerate(self.ps) if p <= 1 - self.confidence + _EQUAL)


def non_inferior(
    values: Floats,
    latencies: Sequence[float],
    margin: float,
    clusters: Sequence[str] | None = None,
    *,
    error: float = ERROR,
) -> NonInferior:
    """Choose by values (points x questions), the latency of each point, and the margin that a user would not notice.

    Of two points with the same latency the better one is chosen.
    """
    if not margin > 0:
        raise ValueError(f"a margin of {margin} shows nothing to be non-inferior")
    if len(latencies) != len(values):
        raise ValueError(f"{len(latencies)} latencies for {len(values)} points")
    points = point_totals(values, clusters)
    means = points.means
    best = min(np.flatnonzero(means >= means.max() - _EQUAL).tolist(), key=lambda point: latencies[point])
    ps = _corrected(points.totals, points.counts.astype(np.float64) * margin)
    shown = [point for point, p in enumerate(ps) if p <= error + _EQUAL]
    chosen = min(shown, key=lambda point: (latencies[point], -means[point])) if shown else best
    groups = len(points.counts)
    return NonInferior(
        chosen=chosen,
        shown=bool(shown),
        best=best,
        margin=margin,
        differences=tuple(float(mean - means[best]) for mean in means),
        ps=tuple(ps),
        smallest_p=1 / flip_count(groups),
        clusters=groups,
        confidence=1 - error,
        method=f"{flips_method(groups)} of {groups:,} {points.unit}s, against every other point",
    )


def _corrected(totals: Floats, raised: Floats) -> list[float]:
    """Return the p of each column against the other that makes it largest, corrected for the columns."""
    columns = totals.shape[1]
    if columns == 1:
        return [0.0]
    sums = flipped_sums(np.column_stack([totals, raised]))
    sums, shift = sums[:, :-1], sums[:, -1:]
    ps = np.zeros(columns)
    for reference in range(columns):
        others = np.delete(np.arange(columns), reference)
        order = others[np.argsort(sums[0, others], kind="stable")]
        above = sums[:, order] - sums[:, [reference]] + shift
        seen = above[0]
        above = without_hopeless(above, shift[:, 0], len(totals))
        # From the lowest up: what the largest of this point and of all below it reaches under each flip.
        largest = np.maximum.accumulate(above, axis=1)
        stepwise = np.where(seen < 0, 1.0, (largest >= seen - _EQUAL).mean(axis=0))
        # Stepping down from the highest, no point may be surer than one above it.
        stepwise = np.maximum.accumulate(stepwise[::-1])[::-1]
        ps[order] = np.maximum(ps[order], stepwise)
    return ps.tolist()
