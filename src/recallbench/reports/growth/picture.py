"""The plot of a growing store."""

from __future__ import annotations

import math

from recallbench.corpora.labelled_sets.set_name import plain_names
from recallbench.reports.cells import figure, interval
from recallbench.reports.growth.document import Growth
from recallbench.reports.panel import LINE, SECOND, THIRD, Axis, Panel
from recallbench.reports.plot import Plot


def picture(growth: Growth) -> str:
    """Return a plot, as a file of its own, of figures and p95 against the number of documents stored."""
    return draw(growth).picture()


def draw(growth: Growth) -> Plot:
    """Return the plot of figures and p95 against the number of documents stored."""
    name = f"{plain_names(growth.corpus)}: {growth.store}"
    stored = [size.stored for size in growth.sizes]
    quality = Panel(name, y=Axis(low=0.0, high=1.02))
    for i, colour in zip(range(len(growth.sizes[0].estimates)), (LINE, SECOND, THIRD), strict=False):
        estimates = [size.estimates[i] for size in growth.sizes]
        values = [math.nan if estimate.value is None else estimate.value for estimate in estimates]
        quality.line(stored, values, colour, estimates[0].measure)
        quality.intervals(stored, estimates, label="" if i else "95% interval of each value")
    latency = Panel(x=Axis("documents stored"), y=Axis(low=0.0))
    timed = [size.p95_ms for size in growth.sizes if size.p95_ms is not None]
    if len(timed) == len(growth.sizes):
        latency.line(stored, timed, label="p95 of a warm query, ms")
    return Plot(name, 680, 230, [quality, latency], describe(growth))


def describe(growth: Growth) -> str:
    """Return the plot's values in words."""
    sizes = []
    for size in growth.sizes:
        figures = ", ".join(
            f"{estimate.measure} {figure(estimate.value)} ({interval(estimate)})" for estimate in size.estimates
        )
        sizes.append(f"{size.stored} documents: {figures}, p95 {figure(size.p95_ms, 2)} ms")
    return "; ".join(sizes) + "."
