"""One ranking against another on the same questions: the difference, how sure it is, and whether chance explains it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from recallbench.scoring.intervals import LEVEL, SEED, cluster_codes, intervals
from recallbench.scoring.judgement import Floats, Ints

ENUMERATED = 20
"""Up to so many clusters that differ, every sign flip is looked at: 2^19 sums, since each has its mirror image."""
FLIPS = 9999
"""Random flips where there are more."""
POWER = 0.8
_EQUAL = 1e-12
"""Differences below this are rounding."""
_CELLS = 1 << 22


@dataclass(frozen=True, slots=True)
class Test:
    """A two-sided sign-flip test of no difference."""

    p: float
    smallest_p: float
    """What these questions could reach at most, had every cluster moved the same way."""
    method: str


@dataclass(frozen=True, slots=True)
class Paired:
    """One measure, second ranking minus first, over the questions both were asked."""

    n: int
    clusters: int
    """What was flipped as a whole; n where questions are independent."""
    difference: float
    low: float | None
    high: float | None
    method: str
    """How the interval was found, or why there is none."""
    test: Test
    wins: int
    ties: int
    losses: int
    detectable: float | None
    """The true difference that a study of this size would find four times in five, at p < .05 untouched by Holm."""
    least: float | None
    """The smallest difference when any one cluster is left out; None where questions are independent."""
    most: float | None


def paired(first: Floats, second: Floats, clusters: Sequence[str] | None = None) -> Paired:
    """Compare question by question; `clusters` names what each question depends on ("" stands alone)."""
    if first.shape != second.shape or first.ndim != 1 or not len(first):
        raise ValueError(f"{first.shape} and {second.shape} are not the values of the same questions")
    if clusters is not None and len(clusters) != len(first):
        raise ValueError(f"{len(clusters)} clusters for {len(first)} questions")
    moved = second - first
    moved = np.where(np.abs(moved) < _EQUAL, 0.0, moved)
    codes = None if clusters is None else cluster_codes(clusters)
    groups = np.arange(len(moved)) if codes is None else np.unique(codes, return_inverse=True)[1].astype(np.int64)
    totals: Floats = np.bincount(groups, weights=moved).astype(np.float64)
    low, high, method = _interval(moved, codes)
    least, most = (None, None) if codes is None else _left_out(totals, np.bincount(groups))
    return Paired(
        n=len(moved),
        clusters=len(totals),
        difference=float(moved.mean()),
        low=low,
        high=high,
        method=method,
        test=sign_flips(totals),
        wins=int((moved > 0).sum()),
        ties=int((moved == 0).sum()),
        losses=int((moved < 0).sum()),
        detectable=_detectable(low, high, None if codes is None else len(totals)),
        least=least,
        most=most,
    )


def sign_flips(totals: Floats) -> Test:
    """Whether the sum of these totals, one per cluster, is further from 0 than with signs drawn at random.

    Exact by enumeration where no more than 20 of them differ from 0 (flipping the others changes nothing), else
    p = (b+1) / (B+1) over 9,999 random flips, seed 42.
    """
    scale = float(np.abs(totals).sum())
    moving = totals[np.abs(totals) > _EQUAL]
    if not len(moving):
        return Test(1.0, 1.0, "no cluster differs")
    # Sums that are equal on paper may differ in their last digits.
    reached = abs(float(totals.sum())) - 1e-9 * scale
    fewest = 0.5 ** (len(moving) - 1)
    if len(moving) <= ENUMERATED:
        sums = moving[:1]
        for total in moving[1:]:
            sums = np.concatenate([sums + total, sums - total])
        return Test(float((np.abs(sums) >= reached).mean()), fewest, f"all {2 ** len(moving):,} sign flips")
    draw = np.random.default_rng(SEED)
    beyond, step = 0, max(1, _CELLS // len(moving))
    for start in range(0, FLIPS, step):
        signs = draw.integers(0, 2, (min(step, FLIPS - start), len(moving)), dtype=np.int8)
        beyond += int((np.abs((2.0 * signs - 1.0) @ moving) >= reached).sum())
    p = (beyond + 1) / (FLIPS + 1)
    return Test(p, 1 / (FLIPS + 1), f"{FLIPS:,} random sign flips, seed {SEED}")


def holm(ps: Sequence[float]) -> list[float]:
    """Each p after Holm's correction for all of them, in the order given."""
    adjusted, reached = [0.0] * len(ps), 0.0
    for rank, i in enumerate(sorted(range(len(ps)), key=lambda i: ps[i])):
        reached = max(reached, min(1.0, (len(ps) - rank) * ps[i]))
        adjusted[i] = reached
    return adjusted


def _interval(moved: Floats, codes: Ints | None) -> tuple[float | None, float | None, str]:
    # Intervals are of means from 0 to 1: a difference from -1 to 1 is one of them, moved and stretched.
    (found,) = intervals(((1 + moved) / 2)[:, None], [False], codes)
    low, high = (None if bound is None else 2 * bound - 1 for bound in (found.low, found.high))
    return low, high, found.method


def _detectable(low: float | None, high: float | None, clusters: int | None) -> float | None:
    """From the standard error that the interval was made of; None where the interval was cut off at an end."""
    from scipy.special import ndtri, stdtrit

    if low is None or high is None or low <= -1 or high >= 1:
        return None
    sure, powerful = (
        float(ndtri(share)) if clusters is None else float(stdtrit(clusters - 1, share))
        for share in (0.5 + LEVEL / 2, POWER)
    )
    return (high - low) / 2 * (sure + powerful) / sure


def _left_out(totals: Floats, counts: Ints) -> tuple[float | None, float | None]:
    if len(totals) < 2:
        return None, None
    rest = (totals.sum() - totals) / (counts.sum() - counts)
    return float(rest.min()), float(rest.max())
