"""Precision, recall and F1 against k, drawn."""

from __future__ import annotations

from recallbench.cases.case import count
from recallbench.cases.tradeoff import Tradeoff
from recallbench.reports.panel import LINE, SECOND, THIRD, Axis, Panel, Shape
from recallbench.reports.plot import Plot

CURVES: tuple[tuple[str, str, Shape, str, str], ...] = (
    ("recall", "recall_frac", "circle", "solid", LINE),
    ("precision", "precision", "square", "solid", SECOND),
    ("f1", "f1", "triangle", "dashed", THIRD),
)
"""Short name, field of a point, its shape, the dashes of its line, and the colour."""


def picture(tradeoff: Tradeoff) -> str:
    """Return the plot as an SVG file of its own."""
    ks = [point.k for point in tradeoff.points]
    title = f"{count(tradeoff.n)}, matching: {tradeoff.matching}"
    panel = Panel(title, Axis("k", ticks=[(k, str(k)) for k in ks], logarithmic=True), Axis(low=0.0, high=1.02))
    for name, field, shape, dash, colour in CURVES:
        values = [getattr(point, field) for point in tradeoff.points]
        panel.line(ks, values, colour, tradeoff.name(name), shape, dash)
    panel.upright(tradeoff.best.k, f"best {tradeoff.name('f1')}: k = {tradeoff.best.k}")
    return Plot(title, 620, 300, [panel]).picture(f"{tradeoff.sentence()}.")
