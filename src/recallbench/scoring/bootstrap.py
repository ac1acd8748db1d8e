"""Percentile bootstrap of a mean: the first edition's interval of fractional values. It is too short near 0 and 1."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from recallbench.scoring.intervals import LEVEL, SEED, Interval
from recallbench.scoring.judgement import Floats

RESAMPLES = 2000
_CELLS = 1 << 22
"""Resampling weights in memory at a time: 32 MB for any number of questions."""


def bootstrap(values: Floats) -> list[Interval]:
    """Return the percentile bootstrap of each column's mean: 2,000 resamples of questions, the same for all columns."""
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


def _resampled_means(values: Floats) -> Floats:
    """Return (resamples x columns): each resample draws as many questions as there are, with replacement."""
    n, columns = values.shape
    draw = np.random.default_rng(SEED)
    kind: npt.DTypeLike = np.uint16 if n <= 1 << 16 else np.uint32
    means = np.empty((RESAMPLES, columns))
    # The counts of the draws times the values: one matrix product for all measures.
    step = max(1, min(RESAMPLES, _CELLS // n))
    times = np.empty((step, n))
    for start in range(0, RESAMPLES, step):
        rows = min(step, RESAMPLES - start)
        for row in range(rows):
            times[row] = np.bincount(draw.integers(0, n, n, dtype=kind), minlength=n)
        means[start : start + rows] = times[:rows] @ values / n
    return means
