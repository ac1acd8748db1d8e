"""The table of a sweep: a row for each point."""

from __future__ import annotations

from collections.abc import Sequence

from recallbench.escaping.sheet import csv_text
from recallbench.reports.cells import figure, interval
from recallbench.reports.table import Table
from recallbench.results.sweep.document import SweepDocument, SweepPointPart


def point_table(document: SweepDocument) -> Table:
    """Return the points in the order of the file, each with the value of every parameter."""
    columns = ["point", *document.parameters, document.measure, "95% interval", "p50 ms", "p95 ms", "remarks"]
    rows = [
        [
            point.name,
            *(point.parameters.get(name, "–") for name in document.parameters),
            *_figures(point),
            _milliseconds(point.p50_ms),
            _milliseconds(point.p95_ms),
            "; ".join(remarks(point)) or "–",
        ]
        for point in document.points
    ]
    return Table(columns, rows, caption="Points", left=["point", *document.parameters, "remarks"])


def point_sheet(document: SweepDocument) -> str:
    """Return `points.csv`: the same with every digit, for a spreadsheet or a program."""
    columns = ["point", *document.parameters, "measure", "value", "low", "high", "n", "p50_ms", "p95_ms", "timed"]
    rows = []
    for point in document.points:
        found = point.estimate
        figures = [None] * 4 if found is None else [found.value, found.low, found.high, found.n]
        cells = [document.measure if found is None else found.measure, *figures, point.p50_ms, point.p95_ms]
        rows.append(
            [
                point.name,
                *(point.parameters.get(name, "") for name in document.parameters),
                *("" if cell is None else str(cell) for cell in cells),
                str(point.timed),
                point.answers_sha256,
                point.failure,
            ]
        )
    return csv_text([[*columns, "answers_sha256", "failure"], *rows])


def remarks(point: SweepPointPart) -> Sequence[str]:
    """Return what a reader of a point has to know."""
    return [
        *(["failed"] if point.failure else []),
        *([f"{len(point.failed_questions)} questions failed"] if point.failed_questions else []),
        *([f"kept from {point.measured}"] if point.kept else []),
    ]


def _figures(point: SweepPointPart) -> list[str]:
    return ["–", "–"] if point.estimate is None else [figure(point.estimate.value), interval(point.estimate)]


def _milliseconds(value: float | None) -> str:
    return "–" if value is None else f"{value:.0f}" if value >= 100 else f"{value:.3g}"
