"""The picture of a group: what each result finds against the time and the money that a question takes."""

from __future__ import annotations

import math
from collections.abc import Sequence

from recallbench.compare.rules import Requirement
from recallbench.reports.cells import figure
from recallbench.reports.panel import INK, LINE, SECOND, Axis, Panel, price_axis
from recallbench.reports.plot import Plot
from recallbench.results.metrics import EstimatePart
from recallbench.scoring.measures.measure import Measure
from recallbench.site.board import Group
from recallbench.site.curve import Curve, Standing


def draw(group: Group, standing: Standing, measure: Measure, gates: Sequence[Requirement]) -> Plot | None:
    """Return the plot, a panel for each price; None where no result has one."""
    panels = [_panel(curve, measure, gates) for curve in standing.curves]
    if not panels:
        return None
    described = "; ".join(filter(None, (_described(curve) for curve in standing.curves)))
    return Plot(f"{measure} on {group.asked}", 680, 260, panels, f"{measure}: {described}.")


def price_words(price: float) -> str:
    """Return a time or a sum at three digits."""
    return f"{price:.3g}"


def front_words(curve: Curve, most: int = 12) -> str:
    """Return the results on the front, the cheapest first, with what they find and cost."""
    told = [
        f"{curve.entries[place].name} {figure(_value(curve, place))} at {price_words(curve.prices[place])} {curve.unit}"
        for place in curve.front[:most]
    ]
    more = len(curve.front) - len(told)
    return "; ".join([*told, *([f"and {more} more"] if more else [])])


def _described(curve: Curve) -> str:
    return f"front over {curve.label}: {front_words(curve)}; {len(curve.entries)} results drawn"


def _panel(curve: Curve, measure: Measure, gates: Sequence[Requirement]) -> Panel:
    limits = [gate.bound for gate in gates if gate.name == curve.gate and gate.bound is not None]
    panel = Panel(x=price_axis(curve.label, [*curve.prices, *limits]), y=Axis(str(measure)))
    panel.intervals(curve.prices, [_estimate(curve, place) for place in range(len(curve.entries))])
    _line(panel, curve, range(len(curve.entries)), "a result", INK, "none")
    _line(panel, curve, curve.front, "Pareto front", LINE, "solid")
    if curve.knee is not None and curve.knee.point is not None:
        _line(panel, curve, [curve.knee.point], "the knee", SECOND, "none", square=True)
    for gate in gates:
        if gate.bound is not None and gate.name == curve.gate:
            panel.upright(gate.bound, f"gate: {gate}")
        elif gate.bound is not None and gate.measure == measure:
            panel.across(gate.bound, f"gate: {gate}")
    return panel


def _line(
    panel: Panel,
    curve: Curve,
    places: Sequence[int],
    label: str,
    colour: str,
    dash: str,
    *,
    square: bool = False,
) -> None:
    xs = [curve.prices[place] for place in places]
    ys = [value if (value := _value(curve, place)) is not None else math.nan for place in places]
    panel.line(xs, ys, colour, label, "square" if square else "circle", dash)


def _estimate(curve: Curve, place: int) -> EstimatePart:
    estimate = curve.entries[place].estimates[0]
    assert estimate is not None  # a result that does not reach the first measure is on no board
    return estimate


def _value(curve: Curve, place: int) -> float | None:
    return _estimate(curve, place).value
