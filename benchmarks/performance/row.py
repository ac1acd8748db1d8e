"""One line of the performance table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Row(NamedTuple):
    """A figure beside its requirement."""

    name: str
    requirement: str
    measured: str
    holds: bool


def show(table: Sequence[Row]) -> int:
    """Print the rows as Markdown; 1 when a requirement does not hold."""
    print("| what | required | measured | holds |\n|---|---|---|---|")
    for row in table:
        print(f"| {row.name} | {row.requirement} | {row.measured} | {'yes' if row.holds else '**no**'} |")
    return 0 if all(row.holds for row in table) else 1
