"""One line of the performance table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from recallbench.scoring.quantiles import quantile


class Row(NamedTuple):
    """A figure beside its requirement."""

    name: str
    requirement: str
    measured: str
    holds: bool


def median(seconds: Sequence[float]) -> float:
    """Return the p50 by the estimator of every time that RecallBench tells: the nearest rank."""
    value = quantile(seconds, 0.5)
    assert value is not None
    return value


def show(table: Sequence[Row]) -> int:
    """Print the rows as Markdown; 1 when a requirement does not hold."""
    print("| what | required | measured | holds |\n|---|---|---|---|")
    for row in table:
        print(f"| {row.name} | {row.requirement} | {row.measured} | {'yes' if row.holds else '**no**'} |")
    return 0 if all(row.holds for row in table) else 1
