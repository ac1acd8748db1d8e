"""Precision, recall and F1 against k, drawn."""

from __future__ import annotations

from recallbench.cases.case import count
from recallbench.cases.tradeoff import Tradeoff
from recallbench.reports.plot import INK, LINE, SECOND, THIRD, plotting

CURVES = (("recall", "recall_frac", "o-", LINE), ("precision", "precision", "s-", SECOND), ("f1", "f1", "^--", THIRD))
"""Short name, field of a point, how it is drawn, and in which colour."""


def picture(tradeoff: Tradeoff) -> str:
    """Return the plot as an SVG file of its own."""
    ks = [point.k for point in tradeoff.points]
    with plotting(f"{count(tradeoff.n)}, matching: {tradeoff.matching}", 6.4, 4.0) as plot:
        (axes,) = plot.panels
        for name, field, style, colour in CURVES:
            values = [getattr(point, field) for point in tradeoff.points]
            axes.plot(ks, values, style, color=colour, label=tradeoff.name(name))
        best = f"best {tradeoff.name('f1')}: k = {tradeoff.best.k}"
        axes.axvline(tradeoff.best.k, color=INK, linewidth=0.8, linestyle=":", label=best)
        axes.set_xscale("log")
        axes.set_xticks(ks, [str(k) for k in ks])
        axes.minorticks_off()
        axes.set_ylim(0.0, 1.02)
        axes.set_xlabel("k")
        axes.set_title(plot.title, fontsize=10)
        axes.legend(frameon=False, labelcolor=INK)
        return plot.picture(f"{tradeoff.sentence()}.")
