"""The table of systems over several units of the same questions, and how to read it."""

from __future__ import annotations

from itertools import chain

from recallbench.reports.cells import figure, interval
from recallbench.reports.table import Table
from recallbench.reports.units.units_part import UnitsPart


def unit_table(part: UnitsPart) -> Table:
    """Return a row for each system: each measure by each unit, side by side."""
    leading, *others = part.measures
    units = [unit.unit for unit in part.units]
    columns = [
        "system",
        "encoder",
        *chain.from_iterable((f"{leading} by {unit}", "95% interval") for unit in units),
        *(f"{measure} by {unit}" for measure in others for unit in units),
    ]
    rows = [
        [
            row.system,
            row.embedder,
            *chain.from_iterable((figure(by[0].value), interval(by[0])) for by in row.estimates),
            *(figure(by[place].value) for place in range(1, len(part.measures)) for by in row.estimates),
        ]
        for row in part.rows
    ]
    for name, values in part.controls.items():
        rows.append(
            [
                name,
                "",
                *chain.from_iterable((figure(by[0]), "") for by in values),
                *(figure(by[place]) for place in range(1, len(part.measures)) for by in values),
            ]
        )
    return Table(columns, rows, caption=f"Units of {part.corpus} side by side", left=columns[:2])


def unit_sentences(part: UnitsPart) -> list[str]:
    """Return sentences on how to read the table."""
    sizes = " and ".join(f"{unit.per_haystack:,.1f} by {unit.unit}" for unit in part.units)
    lines = [
        f"Units of {part.corpus}: the {part.n} questions with gold in each. Segments that a question is answered from, "
        f"on average: {sizes}.",
        "No test is made between units: to find one of few and one of many are different tasks, as chance shows. What "
        "smaller units are worth for finding the larger is told by a memory that returns them with their source, over "
        "one corpus.",
    ]
    if part.alone:
        lines.append(f"Measured over one unit only: {', '.join(part.alone)}.")
    return lines
