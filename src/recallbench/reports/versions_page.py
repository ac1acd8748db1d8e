"""`versions.html`, a plot of the primary measures over versions with both tables; and what `versions` prints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from recallbench.escaping.terminal import visible
from recallbench.reports.cells import every_digit, figure, interval
from recallbench.reports.page import Page, captioned, listing
from recallbench.reports.panel import Axis, Panel
from recallbench.reports.plot import Plot
from recallbench.reports.printing.printed import Printed
from recallbench.reports.table import Table
from recallbench.reports.versions import (
    MARKDOWN,
    PAGE,
    PrimaryPart,
    Versions,
    about,
    bands,
    conclusion,
    identity,
    markdown,
    pair_table,
    reading,
    standing,
    title,
    version_table,
)

BAND_LABEL = (
    "the protocol's band around each value: bounds repeats of that one version,\ndecides nothing between versions"
)
WIDTH = 0.3
"""Half of a band's width, in versions."""
LABELLED = 20
"""The most versions that are named below the plot."""


def render(versions: Versions, reports: Mapping[str, str], beside: Sequence[str] = ()) -> str:
    """Return the whole page; `reports` has the report of each version, `beside` more sentences at its head."""
    body = [
        *listing([*identity(versions), *beside]),
        *captioned(plot(versions).element(), f"{bands(versions)} The table below has the same figures."),
        *version_table(versions, reports).html(),
        "<h2>Neighbours</h2>",
        *(pair_table(versions).html() if versions.pairs else ()),
        *listing(reading(versions)),
    ]
    return Page(title(versions), body).html()


def printed(versions: Versions, folder: Path, results: Mapping[str, Path]) -> Printed:
    """Return what `recallbench versions` prints; of a corpus that the protocol has no bands for, nothing of it."""
    registered = any(figure.band is not None for version in versions.versions for figure in version.figures)
    parts = [
        title(versions),
        *about(versions),
        *(standing(versions) if registered else ()),
        "",
        version_table(versions),
        *([bands(versions)] if registered else []),
        "",
        *([pair_table(versions)] if versions.pairs else []),
        *reading(versions),
        f"table: {(folder / MARKDOWN).absolute()}",
        f"page: {(folder / PAGE).absolute()}",
    ]
    return Printed(
        title(versions),
        parts,
        versions.model_dump(mode="json"),
        conclusion(versions, results),
        own_markdown=markdown(versions, {}),
        own_page=render(versions, {}),
        own_sheet=_sheet(versions),
    )


def _sheet(versions: Versions) -> Table:
    """Return a row for each version and measure, with its difference from the version before, for a spreadsheet."""
    columns = ["version", "status", "measure", "value", "low", "high", "before", "difference", "difference low"]
    rows = []
    for version in versions.versions:
        for part in version.figures:
            estimate = part.estimate
            row: list[str | float | None] = [version.version, version.status, estimate.measure]
            row += [estimate.value, estimate.low, estimate.high]
            pairs = [p for p in versions.pairs if (p.after, p.measure) == (version.version, estimate.measure)]
            for pair in pairs:
                row += [pair.before, pair.difference, pair.low, pair.high, pair.p, pair.p_holm]
            rows.append(row + [None] * (12 - len(row)))
        if not version.figures:
            rows.append([version.version, version.status, *[None] * 10])
    return Table([*columns, "difference high", "p", "p (Holm)"], [list(map(every_digit, row)) for row in rows])


def plot(versions: Versions) -> Plot:
    """Return the plot: a panel for each measure."""
    measures = next(version.figures for version in versions.versions if version.figures)
    names = [visible(version.version) for version in versions.versions]
    panels = []
    for measure in measures:
        panel = _panel(versions, measure)
        step = -(-len(names) // LABELLED)
        panel.x = Axis(low=-0.6, high=len(names) - 0.4, ticks=list(enumerate(names))[::step])
        panels.append(panel)
    drawn = " and ".join(measure.estimate.measure for measure in measures)
    description = f"{drawn} by version: {describe(versions)}"
    width = max(600.0, 140 + 90.0 * min(len(names), LABELLED))
    return Plot(title(versions), width, 230, panels, description)


def _panel(versions: Versions, part: PrimaryPart) -> Panel:
    measure, name = part.estimate.measure, part.protocol_name
    measured = [
        (place, figure.estimate)
        for place, version in enumerate(versions.versions)
        for figure in version.figures
        if figure.estimate.measure == measure and figure.estimate.value is not None
    ]
    places = [place for place, _ in measured]
    values = [estimate.value or 0.0 for _, estimate in measured]
    panel = Panel(y=Axis(f"{measure}\n({name})" if name != measure else measure))
    if part.band is not None:
        lows, highs = [value - part.band for value in values], [value + part.band for value in values]
        panel.boxes(places, lows, highs, WIDTH, BAND_LABEL)
    panel.intervals(places, [estimate for _, estimate in measured])
    panel.line(places, values, label="measured value", dash="dotted")
    return panel


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
