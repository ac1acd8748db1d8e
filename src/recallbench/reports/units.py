"""One system over several units of the same questions: the document and its table."""

from __future__ import annotations

from itertools import chain

from pydantic import Field

from recallbench.reports.cells import figure, interval
from recallbench.reports.part import DocumentPart
from recallbench.reports.table import Table
from recallbench.results.metrics import EstimatePart


class UnitPart(DocumentPart):
    unit: str
    corpus: str
    per_haystack: float = Field(description="segments that a question may be answered from, on average")


class UnitRowPart(DocumentPart):
    name: str = Field(description="its folders, in the order of the units; empty for a control")
    system: str
    embedder: str
    estimates: list[list[EstimatePart]] = Field(description="by unit, then by measure, over the common questions")


class UnitsPart(DocumentPart):
    """Systems that were measured over several units of a corpus."""

    corpus: str = Field(description="whose questions they are")
    n: int = Field(description="questions with gold in every unit: all figures are over these")
    measures: list[str]
    units: list[UnitPart]
    rows: list[UnitRowPart]
    controls: dict[str, list[list[float | None]]] = Field(description="by name: by unit, then by measure")
    alone: list[str] = Field(description="results of systems that were measured over one of the units only")


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
    sizes = " and ".join(f"{unit.per_haystack:,.1f} {unit.unit}s" for unit in part.units)
    first, last = part.units[0].unit, part.units[-1].unit
    lines = [
        f"Units of {part.corpus}: the {part.n} questions with gold in each, answered from {sizes} on average.",
        f"No test is made between units: finding a {first} and finding a {last} are different tasks, as chance shows. "
        f"Whether a memory does better with {last}s is told by one that returns them with their source, over the same "
        "corpus: docs/units.md.",
    ]
    if part.alone:
        lines.append(f"Measured over one unit only: {', '.join(part.alone)}.")
    return lines
