"""Recall and precision against k, up to the k of a report, drawn."""

from __future__ import annotations

import math

from recallbench.cases.case import count
from recallbench.cases.scores import CaseScores
from recallbench.errors import UsageError
from recallbench.reports.cells import figure, interval
from recallbench.reports.panel import INK, LINE, SECOND, Axis, Panel, Shape
from recallbench.reports.plot import Plot
from recallbench.scoring.estimate import Estimate

DEPTHS = (1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000)
CURVES: tuple[tuple[str, str, Shape], ...] = (("recall", LINE, "circle"), ("precision", SECOND, "square"))


def plot(scores: CaseScores) -> Plot:
    """Return the plot, with intervals, the recall of an oracle, and chance where it is known.

    Raises UsageError where no case has anything to find.
    """
    if not scores.n:
        raise UsageError("there is nothing to draw", expected="a case with something relevant", found="none")
    ks = [*(k for k in DEPTHS if k < scores.k), scores.k]
    title = f"Recall and precision over {count(scores.n)}"
    panel = Panel("", Axis("k", ticks=[(k, str(k)) for k in ks], logarithmic=True), Axis(low=0.0, high=1.02))
    described: list[str] = []
    for short, colour, shape in CURVES:
        estimates = [scores.estimate(scores.definitions.measure(short, k)) for k in ks]
        name = str(scores.short(short)).replace(f"@{scores.k}", "@k", 1)
        if short == "recall":
            panel.line(ks, [_number(estimate.ceiling) for estimate in estimates], INK, "oracle", "none", "solid")
            if scores.candidates is not None:
                panel.line(ks, [_number(estimate.chance) for estimate in estimates], INK, "chance", "none", "dotted")
        panel.intervals(ks, estimates, "" if described else "95% interval of each value", colour)
        panel.line(ks, [_number(estimate.value) for estimate in estimates], colour, name, shape)
        described += map(_words, estimates)
    return Plot(title, 620, 300, [panel], f"{'; '.join(described)}.")


def _number(value: float | None) -> float:
    return math.nan if value is None else value


def _words(estimate: Estimate) -> str:
    return f"{estimate.measure} {figure(estimate.value)} ({interval(estimate)})"
