"""The table of a sweep: a row for each point."""

from __future__ import annotations

from collections.abc import Sequence

from recallbench.reports.cells import every_digit, figure, interval, milliseconds
from recallbench.reports.table import Table
from recallbench.results.sweep.document import BASELINE, SweepDocument, SweepPointPart


def point_table(document: SweepDocument) -> Table:
    """Return the points in the order of the file, each with the value of every parameter."""
    priced = any(point.usd_per_1000 is not None for point in document.points)
    columns = ["point", *document.parameters, f"{document.measure}, tuning", "held out", "95% interval"]
    columns += ["p50 ms", "p95 ms", *(["USD/1000"] if priced else []), "front", "remarks"]
    rows = [
        [
            point.name,
            *(point.in_force.get(name) or "–" for name in document.parameters),
            *_figures(point),
            milliseconds(point.p50_ms),
            milliseconds(point.p95_ms),
            *([figure(point.usd_per_1000, 3)] if priced else []),
            "–" if point.front_share is None else f"{point.front_share:.0%}",
            "; ".join(remarks(document, point)) or "–",
        ]
        for point in document.points
    ]
    return Table(columns, rows, caption="Points", left=["point", *document.parameters, "remarks"])


def point_sheet(document: SweepDocument) -> Table:
    """Return `points.csv`: the same with every digit, for a spreadsheet or a program."""
    columns = ["point", *document.parameters, "measure", "value", "low", "high", "n", "tuning", "held_out"]
    columns += ["held_out_low", "held_out_high", "p50_ms", "p95_ms", "usd_per_1000", "front_share"]
    rows = []
    for point in document.points:
        found = point.estimate
        figures = [None] * 4 if found is None else [found.value, found.low, found.high, found.n]
        out = point.held_out
        held_out = [None] * 3 if out is None else [out.value, out.low, out.high]
        cells = [document.measure if found is None else found.measure, *figures, point.tuning, *held_out]
        cells += [point.p50_ms, point.p95_ms, point.usd_per_1000, point.front_share]
        rows.append(
            [
                point.name,
                *(point.in_force.get(name, "") for name in document.parameters),
                *map(every_digit, cells),
                "; ".join(remarks(document, point)),
                point.answers_sha256,
                point.failure,
            ]
        )
    return Table([*columns, "remarks", "answers_sha256", "failure"], rows)


def remarks(document: SweepDocument, point: SweepPointPart) -> Sequence[str]:
    """Return what a reader of a point has to know."""
    choice = document.choice
    knee = choice.knee.point if choice.knee is not None else None
    ran = point.tuning is not None and point.name != BASELINE
    return [
        *(["chosen"] if point.name == choice.chosen else []),
        *(["in the set"] if point.in_set else []),
        *(["cheapest of it"] if point.name == choice.cheapest else []),
        *(["knee"] if point.name == knee else []),
        *([f"dropped after {point.dropped_after}"] if point.dropped_after is not None else []),
        *(["keeps not every gate"] if ran and document.gates and not point.passes else []),
        *(["failed"] if point.failure else []),
        *([f"{len(point.failed_questions)} questions failed"] if point.failed_questions else []),
        *([f"kept from {point.measured}"] if point.kept else []),
    ]


def _figures(point: SweepPointPart) -> list[str]:
    out = point.held_out
    return [figure(point.tuning), *(["–", "–"] if out is None else [figure(out.value), interval(out)])]
