"""The values of many points on the same questions, summed by cluster, and how many points so many clusters support."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from recallbench.scoring.intervals import SEED, cluster_codes
from recallbench.scoring.judgement import Floats, Ints
from recallbench.scoring.sign_flips import flip_count

ERROR = 0.05
"""How often a statement may be wrong."""
RESAMPLES = 2000


@dataclass(frozen=True, slots=True, eq=False)
class PointTotals:
    """What every figure of the choice is made of."""

    totals: Floats
    """(clusters x points)"""
    counts: Ints
    """The questions of each cluster; 1 each where questions are independent."""
    unit: str
    """"cluster" or "question"."""

    @property
    def means(self) -> Floats:
        """(points,)"""
        return np.asarray(self.totals.sum(axis=0) / self.counts.sum())

    def resampled_means(self, resamples: int = RESAMPLES) -> Floats:
        """(resamples x points): the means of as many clusters, drawn with replacement."""
        draw = np.random.default_rng(SEED)
        groups = len(self.counts)
        drawn = draw.multinomial(groups, np.full(groups, 1 / groups), size=resamples).astype(np.float64)
        return np.asarray((drawn @ self.totals) / (drawn @ self.counts)[:, None])


@dataclass(frozen=True, slots=True)
class Support:
    """How many points so many clusters can support."""

    clusters: int
    unit: str
    error: float
    smallest_p: float
    """The least p of two points that differ: all clusters moved the same way."""
    points: int
    """So many points can be told apart pair by pair, each pair with a test of its own; at most 1 is none at all.

    More points are compared jointly: it takes a larger difference to tell two of them apart.
    """

    @property
    def chooses(self) -> bool:
        """Return whether any two points could be told apart."""
        return self.points > 1

    @property
    def description(self) -> str:
        """Return what so many clusters support, as a sentence without its stop."""
        units = f"{self.clusters:,} {self.unit}{'' if self.clusters == 1 else 's'}"
        if not self.chooses:
            return f"{units} can't tell any two points apart: sign flips reach p = {self.smallest_p:.2g} at best"
        return (
            f"{units} support {self.points:,} points with a test for each pair (smallest p {self.smallest_p:.2g}); "
            "among more, only larger differences are told"
        )


def support(clusters: int, unit: str = "cluster", error: float = ERROR) -> Support:
    """Return how many points can be told apart by two-sided sign flips over so many clusters."""
    smallest = 1 / flip_count(clusters, mirrored=False)
    pairs = math.floor(error / smallest + 1e-9)
    points = (1 + math.isqrt(1 + 8 * pairs)) // 2
    return Support(clusters, unit, error, smallest, points)


def point_totals(values: Floats, clusters: Sequence[str] | None = None) -> PointTotals:
    """Return the sums of values (points x questions) by cluster; `clusters` names each question's ("" is its own)."""
    if values.ndim != 2 or not values.size:
        raise ValueError(f"{values.shape} is not points x questions")
    if clusters is not None and len(clusters) != values.shape[1]:
        raise ValueError(f"{len(clusters)} clusters for {values.shape[1]} questions")
    if not np.isfinite(values).all():
        raise ValueError("a point has no value for some question")
    groups, unit = question_units(values.shape[1], clusters)
    if unit == "question":
        return PointTotals(np.ascontiguousarray(values.T), np.ones(values.shape[1], dtype=np.int64), unit)
    return PointTotals(sums_by_group(values, groups), np.bincount(groups), unit)


def sums_by_group(values: Floats, groups: Ints) -> Floats:
    """Return (groups x points): the sums of values (points x questions) by the group of each question."""
    return np.column_stack([np.bincount(groups, weights=row) for row in values]).astype(np.float64)


def question_units(questions: int, clusters: Sequence[str] | None) -> tuple[Ints, str]:
    """Return a number per question, equal within a cluster and without gaps, and what the units are."""
    codes = None if clusters is None else cluster_codes(clusters)
    if codes is None:
        return np.arange(questions), "question"
    return np.unique(codes, return_inverse=True)[1].astype(np.int64), "cluster"


def without_hopeless(flipped: Floats, counts: Floats, groups: int) -> Floats:
    """Return sums under sign flips (flips x points, as seen first) where a point seen below 0 has its spread alone.

    Its distance from 0 says only that it is no candidate, but under other signs it would be the largest sum of all, and
    hide those that are (Hansen's test of superior ability leaves it out likewise). `counts` are the questions of so
    many clusters under the same flips.
    """
    behind = flipped[0] < 0
    # Residuals of few clusters are smaller than what they estimate.
    widen = math.sqrt(groups / (groups - 1)) if groups > 1 else 1.0
    spread = widen * (flipped - flipped[0] * (counts / counts[0])[:, None])
    return np.where(behind, spread, flipped)
