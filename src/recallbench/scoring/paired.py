"""One ranking against another on the same questions: the difference, how sure it is, and whether chance explains it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from recallbench.scoring.intervals import LEVEL, SEED, Interval, cluster_codes, clustered, score_difference
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
    turning: tuple[str, ...] = ()
    """The clusters without any one of which the difference would be 0 or of the other sign."""


def paired(first: Floats, second: Floats, clusters: Sequence[str] | None = None) -> Paired:
    """One measure, question by question; `clusters` names what each question depends on ("" stands alone)."""
    return paired_columns(first[:, None], second[:, None], clusters)[0]


def paired_columns(first: Floats, second: Floats, clusters: Sequence[str] | None = None) -> list[Paired]:
    """The same for each column (questions x measures); a column's figures do not depend on its company."""
    if first.shape != second.shape or first.ndim != 2 or not len(first):
        raise ValueError(f"{first.shape} and {second.shape} are not the values of the same questions")
    if clusters is not None and len(clusters) != len(first):
        raise ValueError(f"{len(clusters)} clusters for {len(first)} questions")
    moved = second - first
    moved = np.where(np.abs(moved) < _EQUAL, 0.0, moved)
    binary = [bool(np.isin(pair, (0.0, 1.0)).all()) for pair in zip(first.T, second.T, strict=True)]
    codes = None if clusters is None else cluster_codes(clusters)
    groups = np.arange(len(moved)) if codes is None else np.unique(codes, return_inverse=True)[1].astype(np.int64)
    counts = np.bincount(groups)
    totals: Floats = np.column_stack([np.bincount(groups, weights=column) for column in moved.T]).astype(np.float64)
    names = [""] * len(counts)
    for group, name in zip(groups.tolist(), clusters or (), strict=False):
        names[group] = name
    tests = _tests(totals)
    return [
        _one(column, zero_or_one, codes, sums, counts, names, test)
        for column, zero_or_one, sums, test in zip(moved.T, binary, totals.T, tests, strict=True)
    ]


def _one(
    moved: Floats, binary: bool, codes: Ints | None, totals: Floats, counts: Ints, names: Sequence[str], test: Test
) -> Paired:
    difference = float(moved.mean())
    bounds = _interval(moved, binary, codes)
    least, most, turning = (None, None, ()) if codes is None else _left_out(difference, totals, counts, names)
    return Paired(
        n=len(moved),
        clusters=len(totals),
        difference=difference,
        low=bounds.low,
        high=bounds.high,
        method=bounds.method,
        test=test,
        wins=int((moved > 0).sum()),
        ties=int((moved == 0).sum()),
        losses=int((moved < 0).sum()),
        detectable=_detectable(bounds, len(totals), binary and codes is None),
        least=least,
        most=most,
        turning=turning,
    )


def sign_flips(totals: Floats) -> Test:
    """Whether the sum of these totals, one per cluster, is further from 0 than with signs drawn at random.

    Exact by enumeration where no more than 20 of them differ from 0 (flipping the others changes nothing), else
    p = (b+1) / (B+1) over 9,999 random flips, seed 42.
    """
    return _tests(totals[:, None])[0]


def _tests(totals: Floats) -> list[Test]:
    """One test per column of (clusters x measures)."""
    tests: list[Test | None] = [_exact(column[np.abs(column) > _EQUAL], column) for column in totals.T]
    open_ = [i for i, test in enumerate(tests) if test is None]
    beyond = _beyond(totals[:, open_]) if open_ else ()
    for i, count in zip(open_, beyond, strict=True):
        p = (int(count) + 1) / (FLIPS + 1)
        tests[i] = Test(p, 1 / (FLIPS + 1), f"{FLIPS:,} random sign flips, seed {SEED}")
    return [test for test in tests if test is not None]


def _exact(moving: Floats, totals: Floats) -> Test | None:
    """By enumeration; None where there are too many."""
    if not len(moving):
        return Test(1.0, 1.0, "no cluster differs")
    if len(moving) > ENUMERATED:
        return None
    sums = moving[:1]
    for total in moving[1:]:
        sums = np.concatenate([sums + total, sums - total])
    p = float((np.abs(sums) >= _reached(totals)).mean())
    return Test(p, 0.5 ** (len(moving) - 1), f"all {2 ** len(moving):,} sign flips")


def _reached(totals: Floats) -> float:
    # Sums that are equal on paper may differ in their last digits.
    return abs(float(totals.sum())) - 1e-9 * float(np.abs(totals).sum())


def _beyond(totals: Floats) -> Ints:
    """How many of the random flips, the same ones for every column, bring its sum as far from 0 as it is."""
    groups, columns = totals.shape
    reached = np.array([_reached(column) for column in totals.T])
    draw = np.random.default_rng(SEED)
    found = np.zeros(columns, dtype=np.int64)
    width = -(-groups // 8)
    step = max(1, _CELLS // (8 * width))
    for start in range(0, FLIPS, step):
        rows = min(step, FLIPS - start)
        bits = np.unpackbits(np.frombuffer(draw.bytes(rows * width), dtype=np.uint8)).reshape(rows, -1)
        sums = 2.0 * (bits[:, :groups].astype(np.float64) @ totals) - totals.sum(axis=0)
        found += (np.abs(sums) >= reached).sum(axis=0)
    return found


def holm(ps: Sequence[float]) -> list[float]:
    """Each p after Holm's correction for all of them, in the order given."""
    adjusted, reached = [0.0] * len(ps), 0.0
    for rank, i in enumerate(sorted(range(len(ps)), key=lambda i: ps[i])):
        reached = max(reached, min(1.0, (len(ps) - rank) * ps[i]))
        adjusted[i] = reached
    return adjusted


def _interval(moved: Floats, binary: bool, codes: Ints | None) -> Interval:
    """Of the mean difference: Tango's score interval for independent pairs of 0 and 1, else t over the standard error.

    A percentile bootstrap of differences covers too little where few questions move, and Wilson's formula knows no
    pairs.
    """
    if not moved.any():
        return Interval(None, None, "n/a (no question differs)")
    if binary and codes is None:
        return score_difference(int((moved > 0).sum()), int((moved < 0).sum()), len(moved))
    # What is known of means from 0 to 1 holds of a difference from -1 to 1, moved and stretched.
    found = clustered((1 + moved) / 2, np.arange(len(moved)) if codes is None else codes)
    low, high = (None if bound is None else 2 * bound - 1 for bound in (found.low, found.high))
    method = found.method if codes is not None else found.method.partition(",")[0].replace("clusters", "questions")
    return Interval(low, high, method)


def _detectable(bounds: Interval, clusters: int, normal: bool) -> float | None:
    """From the standard error that the interval was made of; None where the interval was cut off at an end."""
    from scipy.special import ndtri, stdtrit

    if bounds.low is None or bounds.high is None or bounds.low <= -1 or bounds.high >= 1:
        return None
    sure, powerful = (
        float(ndtri(share)) if normal else float(stdtrit(clusters - 1, share)) for share in (0.5 + LEVEL / 2, POWER)
    )
    return (bounds.high - bounds.low) / 2 * (sure + powerful) / sure


def _left_out(
    difference: float, totals: Floats, counts: Ints, names: Sequence[str]
) -> tuple[float | None, float | None, tuple[str, ...]]:
    if len(totals) < 2:
        return None, None, ()
    rest = (totals.sum() - totals) / (counts.sum() - counts)
    turned = [] if abs(difference) < _EQUAL else np.flatnonzero(rest * np.sign(difference) < _EQUAL).tolist()
    return float(rest.min()), float(rest.max()), tuple(names[i] or "one question" for i in turned)
