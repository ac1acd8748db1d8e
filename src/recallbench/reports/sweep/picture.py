"""The picture of a sweep: what each point finds against the time and the money that it takes."""

from __future__ import annotations

import re
from collections.abc import Callable

from recallbench.reports.panel import INK, LINE, SECOND, THIRD, Axis, Panel
from recallbench.reports.plot import Plot
from recallbench.reports.sweep.words import named, title
from recallbench.results.metrics import EstimatePart
from recallbench.results.sweep.document import BASELINE, SweepDocument, SweepPointPart

Price = Callable[[SweepPointPart], float | None]


def draw(document: SweepDocument) -> Plot | None:
    """Return the plot over p95 and over cost; None where no point was asked the questions held out."""
    prices: list[tuple[str, str, Price]] = [
        ("p95 of a single warm search, ms", "p95", lambda point: point.p95_ms),
        ("USD for 1,000 questions", "usd_per_1000", lambda point: point.usd_per_1000),
    ]
    panels = [panel for price in prices if (panel := _panel(document, *price)) is not None]
    return Plot(title(document), 680, 260, panels, describe(document)) if panels else None


def describe(document: SweepDocument) -> str:
    """Return the values of the plot in words."""
    told = []
    for point in document.points:
        out = point.held_out
        if out is not None and out.value is not None and point.p95_ms is not None:
            told.append(f"{named(point)} {out.value:.4f} at {point.p95_ms:.3g} ms")
    return f"held-out {document.measure} by p95: {'; '.join(told)}"


def _panel(document: SweepDocument, label: str, gate: str, price: Price) -> Panel | None:
    shown = [
        (paid, point.held_out, point)
        for point in document.points
        if (paid := price(point)) is not None and paid > 0 and point.held_out is not None
    ]
    if not shown:
        return None
    panel = Panel(f"held-out {document.measure}", x=Axis(label), y=Axis())
    _line(panel, [each for each in shown if each[2].name != BASELINE], "a point", INK, "none")
    panel.intervals([paid for paid, _, _ in shown], [out for _, out, _ in shown])
    choice = document.choice
    fronted = sorted((each for each in shown if each[2].name in choice.front), key=lambda each: each[0])
    if gate == "p95":
        _line(panel, fronted, "Pareto front", LINE, "solid")
    marks = ((BASELINE, "the baseline", THIRD), (choice.chosen, "the chosen point", SECOND))
    for name, words, colour in marks:
        _line(panel, [each for each in shown if each[2].name == name], words, colour, "none", square=True)
    knee = choice.knee
    if knee is not None and knee.point is not None:
        _line(panel, [each for each in shown if each[2].name == knee.point], "the knee", SECOND, "none")
    for text in document.gates:
        match = re.fullmatch(r"(\S+) (?:>=|<=|<) ([0-9.e+-]+)(?:ms)?", text)
        if match is not None and match[1] == gate:
            panel.upright(float(match[2]), f"gate: {text}")
        elif match is not None and match[1] == document.measure:
            panel.across(float(match[2]), f"gate: {text}")
    return panel


def _line(
    panel: Panel,
    shown: list[tuple[float, EstimatePart, SweepPointPart]],
    label: str,
    colour: str,
    dash: str,
    *,
    square: bool = False,
) -> None:
    drawn = [(paid, out.value) for paid, out, _ in shown if out.value is not None]
    if drawn:
        xs, ys = [paid for paid, _ in drawn], [value for _, value in drawn]
        panel.line(xs, ys, colour, label, "square" if square else "circle", dash)
