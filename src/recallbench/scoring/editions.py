"""The editions of the statistics: how intervals are made, and which figures are written.

A result names its edition, so that its figures can be derived again. An edition that results were published
with is never changed: any change is a new edition.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from recallbench.scoring.bootstrap import bootstrap
from recallbench.scoring.effective import mean_intervals, sum_interval
from recallbench.scoring.intervals import Interval, clustered, clustered_sum, wilson
from recallbench.scoring.judgement import Floats, Ints

DIGITS = 10
"""Digits of written figures: the last ones of a sum differ from one processor to the next."""


@dataclass(frozen=True, slots=True)
class Edition:
    """One way of making intervals."""

    number: int
    means: Callable[[Floats, Sequence[bool], Ints | None], list[Interval]]
    """Returns each column's interval, from values (questions x measures), which columns are 0 or 1, and clusters."""
    sums: Callable[[float, Floats, Ints, float], Interval]
    """Returns the interval of a sum of influences over clusters, given its variance under independence."""
    every_figure_rounded: bool
    """Whether every figure is rounded to DIGITS, or the ends of intervals alone."""
    abilities: bool
    """Whether kinds are rolled up into abilities, where the corpus has some."""
    whole_texts: bool
    """Whether only the expected text alone is an exact match; else any text that contains it."""
    coverage: bool
    """Whether the coverage of segments and of gold is told."""
    bounded_times: bool
    """Whether times are told by stage as p50, p95 and p99 with their bounds; else as p50 and p95 of queries, which
    report.md interpolates."""


def _first(values: Floats, binary: Sequence[bool], clusters: Ints | None) -> list[Interval]:
    """Return Wilson's for shares, percentile bootstrap for other values; with clusters, t over the robust error."""
    if clusters is not None and len(np.unique(clusters)) < len(values):
        return [clustered(column, clusters) for column in values.T]
    rest = iter(bootstrap(values[:, [not is_binary for is_binary in binary]]))
    return [
        wilson(float(column.sum()), len(column)) if is_binary else next(rest)
        for is_binary, column in zip(binary, values.T, strict=True)
    ]


FIRST = Edition(
    1,
    _first,
    clustered_sum,
    every_figure_rounded=False,
    abilities=False,
    whole_texts=True,
    coverage=False,
    bounded_times=False,
)
SECOND = Edition(
    2,
    mean_intervals,
    sum_interval,
    every_figure_rounded=True,
    abilities=True,
    whole_texts=False,
    coverage=False,
    bounded_times=False,
)
CURRENT = replace(SECOND, number=3, coverage=True, bounded_times=True)
EDITIONS = {edition.number: edition for edition in (FIRST, SECOND, CURRENT)}
"""The editions by number; a result without one is of the first."""
