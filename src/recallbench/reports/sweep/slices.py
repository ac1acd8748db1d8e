"""The points of a sweep by kind, tenant and ability: the chosen one, the best and the baseline side by side."""

from __future__ import annotations

from recallbench.escaping.markdown import Markup
from recallbench.escaping.sheet import csv_text
from recallbench.reports.cells import every_digit, figure, interval
from recallbench.reports.table import Table
from recallbench.results.metrics import EstimatePart
from recallbench.results.sweep.document import BASELINE, SweepDocument, SweepPointPart

SHEET = ("point", "by", "slice", "measure", "n", "value", "low", "high", "interval", "chance", "ceiling")


def slice_tables(document: SweepDocument) -> list[Table]:
    """Return a table for each way to divide the questions held out; none where there is only one slice."""
    shown = _shown(document)
    ways = dict.fromkeys(what for point, _ in shown for what in point.slices)
    return [_table(document, what, shown) for what in ways]


def slice_sheet(document: SweepDocument) -> str:
    """Return `slices.csv`: every point by slice, with every digit."""
    rows = [
        [point.name, what, name, part.measure, str(part.n), *map(every_digit, _figures(part))]
        for point in document.points
        for what, slices in point.slices.items()
        for name, part in slices.items()
    ]
    return csv_text([SHEET, *rows])


def _shown(document: SweepDocument) -> list[tuple[SweepPointPart, str]]:
    """Return the points that are put side by side, each with its heading."""
    choice = document.choice
    headings: dict[str, list[str]] = {}
    for name, what in ((choice.chosen, "chosen"), (choice.best, "best"), (BASELINE, BASELINE)):
        if name is not None:
            headings.setdefault(name, []).append(what)
    return [
        (point, name if name == BASELINE else f"{name} ({', '.join(headings[name])})")
        for name in headings
        if (point := document.point(name)) is not None and point.slices
    ]


def _table(document: SweepDocument, what: str, shown: list[tuple[SweepPointPart, str]]) -> Table:
    names = dict.fromkeys(name for point, _ in shown for name in point.slices.get(what, {}))
    rows = []
    for name in names:
        parts = [point.slices[what].get(name) for point, _ in shown]
        count = next(part.n for part in parts if part is not None)
        rows.append([name, str(count), *("–" if part is None else _value(part) for part in parts)])
    caption = f"Held-out {document.measure} by {what}"
    return Table([what, "n", *(heading for _, heading in shown)], rows, caption=caption, left=[what])


def _value(part: EstimatePart) -> Markup:
    return Markup(figure(part.value) + ("" if part.low is None else f" ({interval(part)})"))


def _figures(part: EstimatePart) -> list[float | str | None]:
    return [part.value, part.low, part.high, part.method, part.chance, part.ceiling]
