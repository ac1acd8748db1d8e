"""The sign-flip test of a difference between two rankings, by cluster, and its interval.

If a ranking is no better than another, each cluster could as well have moved the other way. So the sum over clusters is
compared with the sums under random signs. No assumption about the sizes of clusters is made, which t needs: where one
of ten holds half of the questions, t calls chance a difference in one sample of seven.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from recallbench.scoring.intervals import SEED, Interval
from recallbench.scoring.judgement import Floats, Ints

ENUMERATED = 20
"""The most clusters whose sign flips are all enumerated: 2^19 sums, since each has its mirror image."""
FLIPS = 9999
"""Random flips where there are more clusters."""
JOINT = 13
"""The most clusters whose sign flips are all enumerated where many columns are flipped together: 8,192."""
EQUAL = 1e-12
"""Differences below this are rounding."""
_TAIL = 40
"""One flip in 40 may lie beyond each end of a 95% interval."""
_CELLS = 1 << 22


@dataclass(frozen=True, slots=True)
class Test:
    """A two-sided sign-flip test of no difference."""

    p: float
    smallest_p: float
    """The least p that these questions could reach, had every cluster moved the same way."""
    method: str


def sign_flip_tests(totals: Floats) -> list[Test]:
    """Test, by column of (clusters x measures), whether the sum is further from 0 than under random signs.

    Exact by enumeration where no more than 20 totals differ from 0 (flipping the others changes nothing), else
    p = (b+1) / (B+1) over 9,999 random flips, seed 42.
    """
    tests: list[Test | None] = [_exact(column[np.abs(column) > EQUAL], column) for column in totals.T]
    sampled = [i for i, test in enumerate(tests) if test is None]
    beyond = _count_beyond(totals[:, sampled]) if sampled else ()
    for i, count in zip(sampled, beyond, strict=True):
        p = (int(count) + 1) / (FLIPS + 1)
        tests[i] = Test(p, 1 / (FLIPS + 1), f"{FLIPS:,} random sign flips, seed {SEED}")
    return [test for test in tests if test is not None]


def mean_intervals(totals: Floats, counts: Ints) -> list[Interval]:
    """Return, by column of (clusters x measures), the mean differences that a 95% sign-flip test does not reject.

    Tested against a difference d, a cluster's total is less by d for each of its `counts` questions. Flipping the signs
    of some clusters then reaches what was seen if their own mean is at most d: the ends of the interval are ranks among
    the means of all sets of clusters (Hartigan's typical values).
    """
    groups = len(counts)
    flips = 2**groups if groups <= ENUMERATED else FLIPS + 1
    if flips < _TAIL:
        clusters = "one cluster" if groups == 1 else f"{groups} clusters"
        return [Interval(None, None, f"n/a ({clusters}: sign flips reach no p of .05 below 6)")] * totals.shape[1]
    how = f"{flips:,}" if groups <= ENUMERATED else f"{FLIPS:,} random"
    seed = "" if groups <= ENUMERATED else f", seed {SEED}"
    method = f"95% by {how} sign flips of {groups} clusters{seed}"
    place = flips // _TAIL
    intervals = []
    for means in _set_means(totals, counts):
        if means.max() - means.min() <= EQUAL:
            # An interval of no width would claim certainty.
            intervals.append(Interval(None, None, "n/a (all clusters equal)"))
            continue
        last = len(means) - place
        ordered = np.partition(means, (place - 1, last))
        intervals.append(Interval(float(ordered[place - 1]), float(ordered[last]), method))
    return intervals


def flipped_sums(totals: Floats, mirrored: bool = True) -> Floats:
    """Return (flips x columns): the sums over clusters under each sign flip, the same for all columns, as seen first.

    All flips of up to 13 clusters, else 9,999 random ones. Without `mirrored` the first cluster keeps its sign where
    flips are enumerated: enough for what is equal under a flip of all clusters.
    """
    groups = len(totals)
    if groups > JOINT:
        seen = totals.sum(axis=0)
        return np.concatenate([seen[None], *(2.0 * (drawn @ totals) - seen for drawn in _random_sets(groups))])
    kept = 0 if mirrored else 1
    sums: Floats = totals[:kept].sum(axis=0)[None]
    for total in totals[kept:]:
        sums = np.concatenate([sums + total, sums - total])
    return sums


def flip_count(groups: int, mirrored: bool = True) -> int:
    """Return how many rows `flipped_sums` has: no p can be less than one in so many."""
    if groups > JOINT:
        return FLIPS + 1
    return 1 << (groups if mirrored else max(0, groups - 1))


def flips_method(groups: int) -> str:
    """Return how `flipped_sums` flips so many clusters."""
    return f"all {2**groups:,} sign flips" if groups <= JOINT else f"{FLIPS:,} random sign flips, seed {SEED}"


def _set_means(totals: Floats, counts: Ints) -> Iterator[Floats]:
    """Yield, by column, the mean over the questions of each set of clusters: of all sets, or of the random ones."""
    if len(counts) <= ENUMERATED:
        sizes = _subset_sums(counts.astype(np.float64))[1:]
        for column in totals.T:
            yield _subset_sums(column)[1:] / sizes
        return
    # One product per column: a product of matrices rounds a column depending on the others.
    columns = [*totals.T, counts.astype(np.float64)]
    sums = [np.column_stack([drawn @ column for column in columns]) for drawn in _random_sets(len(counts))]
    *tops, sizes = np.concatenate(sums).T
    for top in tops:
        yield top[sizes > 0] / sizes[sizes > 0]


def _subset_sums(values: Floats) -> Floats:
    """Return the sum of every subset, the empty one first."""
    sums = np.zeros(1)
    for value in values:
        sums = np.concatenate([sums, sums + value])
    return sums


def _exact(moving: Floats, totals: Floats) -> Test | None:
    """Test by enumeration; None where there are too many."""
    if not len(moving):
        return Test(1.0, 1.0, "no cluster differs")
    if len(moving) > ENUMERATED:
        return None
    sums = moving[:1]
    for total in moving[1:]:
        sums = np.concatenate([sums + total, sums - total])
    p = float((np.abs(sums) >= _distance(totals)).mean())
    return Test(p, 0.5 ** (len(moving) - 1), f"all {2 ** len(moving):,} sign flips")


def _distance(totals: Floats) -> float:
    """Return the distance of the sum from 0."""
    # Sums that are equal on paper may differ in their last digits.
    return abs(float(totals.sum())) - 1e-9 * float(np.abs(totals).sum())


def _count_beyond(totals: Floats) -> Ints:
    """Count, by column, the random flips that bring its sum as far from 0 as it is; all columns share the flips."""
    reached = np.array([_distance(column) for column in totals.T])
    beyond = np.zeros(totals.shape[1], dtype=np.int64)
    for drawn in _random_sets(len(totals)):
        sums = 2.0 * (drawn @ totals) - totals.sum(axis=0)
        beyond += (np.abs(sums) >= reached).sum(axis=0)
    return beyond


def _random_sets(groups: int) -> Iterator[Floats]:
    """Yield the clusters that keep their sign in each random flip, as rows of 0 and 1, some rows at a time."""
    draw = np.random.default_rng(SEED)
    width = -(-groups // 8)
    step = max(1, _CELLS // (8 * width))
    for start in range(0, FLIPS, step):
        rows = min(step, FLIPS - start)
        bits = np.unpackbits(np.frombuffer(draw.bytes(rows * width), dtype=np.uint8)).reshape(rows, -1)
        yield bits[:, :groups].astype(np.float64)
