"""`versions.html`: a plot of the primary measures over versions, with both tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from recallbench.escaping.terminal import visible
from recallbench.reports.cells import figure, interval
from recallbench.reports.page import Page, captioned, listing
from recallbench.reports.plot import BAND, INK, LINE, Plot, plotting
from recallbench.reports.versions import (
    PrimaryPart,
    Versions,
    bands,
    identity,
    pair_table,
    reading,
    title,
    version_table,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH = 0.3
"""Half of a band's width, in versions."""


def render(versions: Versions, folders: Mapping[str, str]) -> str:
    """Return the whole page; `folders` has the result folder of each version that was measured."""
    body = [
        *listing(identity(versions)),
        *captioned(draw(versions), f"{bands(versions)} The table below has the same figures."),
        *version_table(versions, folders).html(),
        "<h2>Neighbours</h2>",
        *(pair_table(versions).html() if versions.pairs else ()),
        *listing(reading(versions)),
    ]
    return Page(title(versions), body).html()


def draw(versions: Versions) -> str:
    """Return the plot as an element of a page: a panel for each primary measure."""
    measures = next(version.figures for version in versions.versions if version.figures)
    names = [visible(version.version) for version in versions.versions]
    size = (max(6.0, 1.4 + 0.9 * len(names)), 3.1 * len(measures))
    with plotting(title(versions), *size, panels=len(measures)) as plot:
        for axes, measure in zip(plot.panels, measures, strict=True):
            _draw_measure(plot, axes, versions, measure)
        last = plot.panels[-1]
        last.set_xticks(range(len(names)), names, rotation=45 if len(names) > 8 else 0)
        last.set_xlim(-0.6, len(names) - 0.4)
        handles, labels = plot.panels[0].get_legend_handles_labels()
        legend = plot.paper.legend(handles, labels, loc="outside lower center", frameon=False, labelcolor=INK)
        legend.set_in_layout(True)
        drawn = " and ".join(measure.estimate.measure for measure in measures)
        return plot.element(f"{drawn} by version: {describe(versions)}")


def _draw_measure(plot: Plot, axes: Axes, versions: Versions, part: PrimaryPart) -> None:
    measure, name = part.estimate.measure, part.protocol_name
    measured = [
        (place, figure.estimate)
        for place, version in enumerate(versions.versions)
        for figure in version.figures
        if figure.estimate.measure == measure and figure.estimate.value is not None
    ]
    places = [place for place, _ in measured]
    values = [estimate.value or 0.0 for _, estimate in measured]
    axes.use_sticky_edges = False
    if part.band is not None:
        axes.bar(
            places,
            [2 * part.band] * len(places),
            2 * WIDTH,
            [value - part.band for value in values],
            color=BAND,
            label="the protocol's band around each value: bounds repeats of that one version,\n"
            "decides nothing between versions",
        )
    axes.plot(places, values, color=LINE, linewidth=0.8, linestyle=":", zorder=2)
    plot.intervals(axes, places, [estimate for _, estimate in measured])
    axes.plot(places, values, "o", color=LINE, label="measured value")
    axes.set_ylabel(f"{measure}\n({name})" if name != measure else measure)


def describe(versions: Versions) -> str:
    """Return the plot's values in words."""
    described = []
    for version in versions.versions:
        estimates = [figure.estimate for figure in version.figures]
        figures = ", ".join(
            f"{estimate.measure} {figure(estimate.value)} ({interval(estimate)})" for estimate in estimates
        )
        described.append(f"{version.version}: {figures or version.status}")
    return "; ".join(described) + "."
