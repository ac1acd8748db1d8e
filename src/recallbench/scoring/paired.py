"""Two rankings of the same questions compared: the difference, its interval, and its test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from recallbench.scoring.distributions import normal_quantile, t_quantile
from recallbench.scoring.intervals import LEVEL, Interval, cluster_codes, clustered, score_difference
from recallbench.scoring.judgement import Floats, Ints
from recallbench.scoring.sign_flips import EQUAL, Test, mean_intervals, sign_flip_tests

POWER = 0.8


@dataclass(frozen=True, slots=True)
class Paired:
    """One measure of two rankings of the same questions, second minus first."""

    n: int
    clusters: int
    """The units of the sign flips; n where questions are independent."""
    first: float
    """The mean of the first ranking."""
    second: float
    difference: float
    low: float | None
    high: float | None
    method: str
    """The method of the interval, or why there is none."""
    test: Test
    wins: int
    ties: int
    losses: int
    detectable: float | None
    """The true difference that a study of this size would find four times in five, at p < .05 before Holm."""
    least: float | None
    """The smallest difference when any one cluster is left out; None where questions are independent."""
    most: float | None
    largest: float | None = None
    """The share of the questions that the largest cluster holds; None where questions are independent."""
    turning: tuple[str, ...] = ()
    """The clusters without any one of which the difference would be 0 or of the other sign."""


def paired(first: Floats, second: Floats, clusters: Sequence[str] | None = None) -> Paired:
    """Compare one measure question by question; `clusters` has the cluster of each ("" is independent)."""
    return paired_columns(first[:, None], second[:, None], clusters)[0]


def paired_columns(first: Floats, second: Floats, clusters: Sequence[str] | None = None) -> list[Paired]:
    """Compare each column (questions x measures); its figures do not depend on the other columns."""
    if first.shape != second.shape or first.ndim != 2 or not len(first):
        raise ValueError(f"{first.shape} and {second.shape} are not the values of the same questions")
    if clusters is not None and len(clusters) != len(first):
        raise ValueError(f"{len(clusters)} clusters for {len(first)} questions")
    moved = second - first
    moved = np.where(np.abs(moved) < EQUAL, 0.0, moved)
    binary = [bool(np.isin(pair, (0.0, 1.0)).all()) for pair in zip(first.T, second.T, strict=True)]
    codes = None if clusters is None else cluster_codes(clusters)
    groups = np.arange(len(moved)) if codes is None else np.unique(codes, return_inverse=True)[1].astype(np.int64)
    counts = np.bincount(groups)
    totals: Floats = np.column_stack([np.bincount(groups, weights=column) for column in moved.T]).astype(np.float64)
    names = [""] * len(counts)
    for group, name in zip(groups.tolist(), clusters or (), strict=False):
        names[group] = name
    tests = sign_flip_tests(totals)
    if codes is None:
        intervals = [difference_interval(column, flag) for column, flag in zip(moved.T, binary, strict=True)]
    else:
        intervals = mean_intervals(totals, counts)
    return [
        _compared((before, after), column, flag, codes, sums, counts, names, test, bounds)
        for before, after, column, flag, sums, test, bounds in zip(
            first.T, second.T, moved.T, binary, totals.T, tests, intervals, strict=True
        )
    ]


def _compared(
    values: tuple[Floats, Floats],
    moved: Floats,
    binary: bool,
    codes: Ints | None,
    totals: Floats,
    counts: Ints,
    names: Sequence[str],
    test: Test,
    bounds: Interval,
) -> Paired:
    difference = float(moved.mean())
    if not moved.any():
        bounds = Interval(None, None, "n/a (no question differs)")
    least, most, turning = (None, None, ()) if codes is None else _leave_one_out(difference, totals, counts, names)
    return Paired(
        n=len(moved),
        clusters=len(totals),
        # Copied, so that the order of summation does not depend on the other columns.
        first=float(np.ascontiguousarray(values[0]).mean()),
        second=float(np.ascontiguousarray(values[1]).mean()),
        difference=difference,
        low=bounds.low,
        high=bounds.high,
        method=bounds.method,
        test=test,
        wins=int((moved > 0).sum()),
        ties=int((moved == 0).sum()),
        losses=int((moved < 0).sum()),
        detectable=detectable_difference(bounds, len(totals), binary and codes is None),
        least=least,
        most=most,
        largest=None if codes is None else float(counts.max()) / len(moved),
        turning=turning,
    )


def holm(ps: Sequence[float]) -> list[float]:
    """Return each p after Holm's correction for all of them, in the order given."""
    adjusted, reached = [0.0] * len(ps), 0.0
    for rank, i in enumerate(sorted(range(len(ps)), key=lambda i: ps[i])):
        reached = max(reached, min(1.0, (len(ps) - rank) * ps[i]))
        adjusted[i] = reached
    return adjusted


def difference_interval(moved: Floats, binary: bool) -> Interval:
    """Return the interval of a mean difference over independent questions.

    It is Tango's score interval for pairs of 0 and 1, else t over the standard error. A percentile bootstrap of
    differences covers too little where few questions move, and Wilson's formula knows no pairs.
    """
    if binary:
        return score_difference(int((moved > 0).sum()), int((moved < 0).sum()), len(moved))
    # Differences from -1 to 1 are mapped to 0 to 1, and back.
    share = clustered((1 + moved) / 2, np.arange(len(moved)))
    low, high = (None if bound is None else 2 * bound - 1 for bound in (share.low, share.high))
    return Interval(low, high, share.method.partition(",")[0].replace("clusters", "questions"))


def detectable_difference(bounds: Interval, clusters: int, normal: bool) -> float | None:
    """Return the detectable difference by the interval's width; None without one, or where it is cut off at an end."""
    if bounds.low is None or bounds.high is None or bounds.low <= -1 or bounds.high >= 1:
        return None
    sure, powerful = (
        normal_quantile(share) if normal else t_quantile(clusters - 1, share) for share in (0.5 + LEVEL / 2, POWER)
    )
    return (bounds.high - bounds.low) / 2 * (sure + powerful) / sure


def _leave_one_out(
    difference: float, totals: Floats, counts: Ints, names: Sequence[str]
) -> tuple[float | None, float | None, tuple[str, ...]]:
    """Return the least and the most difference without one cluster, and the clusters that decide its sign."""
    if len(totals) < 2:
        return None, None, ()
    rest = (totals.sum() - totals) / (counts.sum() - counts)
    turned = [] if abs(difference) < EQUAL else np.flatnonzero(rest * np.sign(difference) < EQUAL).tolist()
    return float(rest.min()), float(rest.max()), tuple(names[i] or "one question" for i in turned)
