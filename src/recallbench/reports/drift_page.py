"""The plot of a measure over time: on a page with its table, or alone."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from recallbench.reports.cells import figure, interval
from recallbench.reports.drift import Drift, findings, left_out, pace, reading, result_table, title
from recallbench.reports.page import Page, captioned, listing
from recallbench.reports.panel import SECOND, Axis, Panel
from recallbench.reports.plot import Plot

LABELLED = 8
"""The most dates below the plot."""


def page(drift: Drift) -> str:
    """Return a self-contained page with the plot and its table."""
    drawn = _plot(drift).element()
    body = [
        *listing([*findings(drift), *left_out(drift)]),
        *captioned(drawn, "The table below has the same figures."),
        *result_table(drift).html(),
        *listing(reading(drift)),
    ]
    return Page(title(drift), body).html()


def picture(drift: Drift) -> str:
    """Return the plot as a file of its own."""
    return _plot(drift).picture()


def describe(drift: Drift) -> str:
    """Return the plot's values in words."""
    shown = [
        f"{night.made[:10]}: {figure(night.estimate.value)} ({interval(night.estimate)})" for night in drift.nights
    ]
    return f"{drift.measure} by day: {'; '.join(shown)}."


def _plot(drift: Drift) -> Plot:
    days = _days(drift)
    values = [night.estimate.value or 0.0 for night in drift.nights]
    step = -(-len(days) // LABELLED)
    dates = [(day, night.made[:10]) for day, night in zip(days, drift.nights, strict=True)][::step]
    panel = Panel("", Axis(ticks=dates), Axis(drift.measure))
    panel.intervals(days, [night.estimate for night in drift.nights])
    panel.line(days, values, label=drift.measure)
    daily = drift.trend.slope_per_day
    slope = daily if daily is not None else drift.trend.slope_per_result
    if drift.trend.direction in ("falling", "rising") and slope is not None:
        steps = days if daily is not None else [float(i) for i in range(len(days))]
        label = f"{drift.trend.direction}, {pace(drift.trend)}"
        panel.line([days[0], days[-1]], _ends(steps, values, slope), SECOND, label, "none", "dashed")
    return Plot(title(drift), 760, 240, [panel], describe(drift))


def _ends(steps: Sequence[float], values: Sequence[float], slope: float) -> list[float]:
    """Return the trend's line at the first and the last result, through the median of what the slope leaves."""
    rest = sorted(value - slope * x for x, value in zip(steps, values, strict=True))
    return [rest[len(steps) // 2] + slope * x for x in (steps[0], steps[-1])]


def _days(drift: Drift) -> list[float]:
    times = [datetime.fromisoformat(night.made) for night in drift.nights]
    return [(time - times[0]).total_seconds() / 86400 for time in times]
