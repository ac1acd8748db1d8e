"""The editions of the statistics: all that has changed in how an interval is made, and what of it is written.

A result names its edition, so that it can be worked out again as it was made. An edition that results were published
with is never changed; what is to be done otherwise is another edition.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from recallbench.scoring.bootstrap import bootstrap
from recallbench.scoring.effective import mean_intervals, sum_interval
from recallbench.scoring.intervals import Interval, clustered, clustered_sum, wilson
from recallbench.scoring.judgement import Floats, Ints

DIGITS = 10
"""Figures are written with so many digits: the last ones of a sum differ from one processor to the next."""


@dataclass(frozen=True, slots=True)
class Edition:
    """One way of making intervals."""

    number: int
    means: Callable[[Floats, Sequence[bool], Ints | None], list[Interval]]
    """One interval for the mean of each column (questions x measures), given which are 0 or 1, and clusters."""
    sums: Callable[[float, Floats, Ints, float], Interval]
    """Over clusters, of a statistic that is a sum of influences, with its variance under independence."""
    every_figure_rounded: bool
    """To DIGITS; else the ends of intervals alone."""
    abilities: bool
    """Kinds are rolled up into abilities, where the corpus knows of some."""
    whole_texts: bool
    """Only a text that says nothing else is an exact match; else one that holds the expected text anywhere."""


def _first(values: Floats, binary: Sequence[bool], clusters: Ints | None) -> list[Interval]:
    """Wilson for shares and percentile bootstrap for other values; t over the cluster-robust error in clusters."""
    if clusters is not None and len(np.unique(clusters)) < len(values):
        return [clustered(column, clusters) for column in values.T]
    rest = iter(bootstrap(values[:, [not one for one in binary]]))
    return [
        wilson(float(column.sum()), len(column)) if one else next(rest)
        for one, column in zip(binary, values.T, strict=True)
    ]


FIRST = Edition(1, _first, clustered_sum, every_figure_rounded=False, abilities=False, whole_texts=True)
CURRENT = Edition(2, mean_intervals, sum_interval, every_figure_rounded=True, abilities=True, whole_texts=False)
EDITIONS = {edition.number: edition for edition in (FIRST, CURRENT)}
"""By number; a result that names none is of the first."""
