"""The picture of a sweep: what each point finds against the time and the money that it takes."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from recallbench.escaping.sheet import csv_text
from recallbench.reports.cells import every_digit
from recallbench.reports.panel import INK, LINE, SECOND, THIRD, Axis, Panel, price_axis
from recallbench.reports.plot import Plot
from recallbench.reports.sweep.words import named, title
from recallbench.results.metrics import EstimatePart
from recallbench.results.sweep.document import BASELINE, P95, USD, SweepDocument, SweepKneePart, SweepPointPart

WIDTH, HEIGHT = 680, 260
MOST_NAMED = 12
"""Points up to which each has its name in the picture; of more, those that are told of."""
SHEET = ("mark", "name", "x", "value", "low", "high", "n", "front_share", "on_front", "chosen", "knee", "baseline")


@dataclass(frozen=True, slots=True)
class PricedPicture:
    """What points find, over one of their prices."""

    stem: str
    """The name of its files, without the ending."""
    label: str
    column: str
    """Its name in a sheet, and in a gate."""
    price: Callable[[SweepPointPart], float | None]
    share: Callable[[SweepPointPart], float | None]
    front: Sequence[str]
    knee: SweepKneePart | None

    def shown(self, document: SweepDocument) -> list[tuple[float, EstimatePart, SweepPointPart]]:
        """Return the points that have both price and value, each with them."""
        return [
            (paid, point.held_out, point)
            for point in document.points
            if (paid := self.price(point)) is not None
            and paid > 0
            and point.held_out is not None
            and point.held_out.value is not None
        ]


def pictures(document: SweepDocument) -> list[PricedPicture]:
    """Return what can be drawn of a sweep: over p95, and over what questions cost."""
    choice = document.choice
    over_time = choice.knee if choice.knee is not None and choice.knee.price == P95 else None
    every = [
        PricedPicture(
            "recall_by_p95",
            "p95 of a single warm search, ms",
            "p95",
            lambda point: point.p95_ms,
            lambda point: point.front_share,
            choice.front,
            over_time,
        ),
        PricedPicture(
            "recall_by_cost",
            USD,
            "usd_per_1000",
            lambda point: point.usd_per_1000,
            lambda point: point.cost_front_share,
            choice.cost_front,
            choice.cost_knee,
        ),
    ]
    return [picture for picture in every if picture.shown(document)]


def draw(document: SweepDocument) -> Plot | None:
    """Return the plot over p95 and over cost; None where no point was asked the questions held out."""
    panels = [_panel(document, picture) for picture in pictures(document)]
    return Plot(title(document), WIDTH, HEIGHT, panels, describe(document)) if panels else None


def files(document: SweepDocument) -> Mapping[str, str]:
    """Return each picture as a file of its own, SVG and CSV, by its name."""
    found = dict[str, str]()
    for picture in pictures(document):
        plot = Plot(title(document), WIDTH, HEIGHT, [_panel(document, picture)], describe(document))
        found |= {f"{picture.stem}.svg": plot.picture(), f"{picture.stem}.csv": _sheet(document, picture)}
    return found


def describe(document: SweepDocument) -> str:
    """Return the values of the plot in words."""
    told = []
    for point in document.points:
        out = point.held_out
        if out is not None and out.value is not None and point.p95_ms is not None:
            told.append(f"{named(point)} {out.value:.4f} at {point.p95_ms:.3g} ms")
    return f"held-out {document.measure} by p95: {'; '.join(told)}"


def _panel(document: SweepDocument, picture: PricedPicture) -> Panel:
    shown, choice = picture.shown(document), document.choice
    gates = [gate for gate in _gates(document) if gate[1] in (picture.column, document.measure)]
    prices = [paid for paid, _, _ in shown] + [bound for _, name, bound in gates if name == picture.column]
    panel = Panel(f"held-out {document.measure}", x=price_axis(picture.label, prices), y=Axis())
    _line(panel, [each for each in shown if each[2].name != BASELINE], "a point", INK, "none")
    panel.intervals([paid for paid, _, _ in shown], [out for _, out, _ in shown])
    fronted = sorted((each for each in shown if each[2].name in picture.front), key=lambda each: each[0])
    _line(panel, fronted, "Pareto front", LINE, "solid")
    marks = ((BASELINE, "the baseline", THIRD), (choice.chosen, f"the chosen point, {choice.chosen}", SECOND))
    for name, words, colour in marks:
        _line(panel, [each for each in shown if each[2].name == name], words, colour, "none", square=True)
    knee = picture.knee.point if picture.knee is not None else None
    if knee is not None:
        at_knee = [each for each in shown if each[2].name == knee]
        panel.line(*_places(at_knee), SECOND, f"the knee, {knee}", "triangle", "none")
    told = {knee, choice.chosen, choice.best, *picture.front}
    points = [each for each in shown if each[2].name != BASELINE]
    some = [each for each in points if len(points) <= MOST_NAMED or each[2].name in told]
    panel.names(*_places(some), [point.name for _, _, point in some])
    for text, name, bound in gates:
        if name == picture.column:
            panel.upright(bound, f"gate: {text}")
        else:
            # It is drawn among held-out values, and was judged by others.
            panel.across(bound, f"gate: {text} (judged by the tuning questions)")
    return panel


def _gates(document: SweepDocument) -> list[tuple[str, str, float]]:
    """Return each gate with what it is about and its bound; a baseline's is its value on the questions held out."""
    baseline, found = document.point(BASELINE), []
    for text in document.gates:
        match = re.fullmatch(r"(\S+) (?:>=|<=|<) (baseline|[0-9.e+-]+)(?:ms)?", text)
        if match is None:
            continue
        bound = None if match[2] == BASELINE else float(match[2])
        if bound is None and baseline is not None:
            out = baseline.held_out
            values = {"p50": baseline.p50_ms, "p95": baseline.p95_ms, "usd_per_1000": baseline.usd_per_1000}
            bound = values.get(match[1], None if out is None or out.measure != match[1] else out.value)
        if bound is not None:
            found.append((text, match[1], bound))
    return found


def _sheet(document: SweepDocument, picture: PricedPicture) -> str:
    """Return what is drawn, a row for each point, and for each gate."""
    choice = document.choice
    knee = picture.knee.point if picture.knee is not None else None
    rows = [
        [
            "point",
            point.name,
            *(every_digit(each) for each in (paid, out.value, out.low, out.high, out.n, picture.share(point))),
            _flag(point.name in picture.front),
            *(_flag(point.name == name) for name in (choice.chosen, knee, BASELINE)),
        ]
        for paid, out, point in picture.shown(document)
    ]
    for text, name, bound in _gates(document):
        if name in (picture.column, document.measure):
            upright = name == picture.column
            place = [str(bound), ""] if upright else ["", str(bound)]
            rows.append(["gate", text, *place, *[""] * (len(SHEET) - 4)])
    return csv_text([[picture.column if name == "x" else name for name in SHEET], *rows])


def _flag(value: bool) -> str:
    return "yes" if value else ""


def _places(shown: Sequence[tuple[float, EstimatePart, SweepPointPart]]) -> tuple[list[float], list[float]]:
    return [paid for paid, _, _ in shown], [out.value or 0.0 for _, out, _ in shown]


def _line(
    panel: Panel,
    shown: Sequence[tuple[float, EstimatePart, SweepPointPart]],
    label: str,
    colour: str,
    dash: str,
    *,
    square: bool = False,
) -> None:
    if shown:
        panel.line(*_places(shown), colour, label, "square" if square else "circle", dash)
