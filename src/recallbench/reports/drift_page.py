"""The plot of a measure over time: on a page with its table, or alone."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from recallbench.reports.cells import figure, interval
from recallbench.reports.drift import Drift, findings, left_out, pace, reading, result_table, title
from recallbench.reports.page import Page, captioned, listing
from recallbench.reports.plot import INK, LINE, Plot, plotting

LABELLED = 8
"""The most dates below the plot."""


def page(drift: Drift) -> str:
    """Return a self-contained page with the plot and its table."""
    with plotting(title(drift), 8.0, 3.4) as plot:
        _draw(plot, drift)
        drawn = plot.element(describe(drift))
    body = [
        *listing([*findings(drift), *left_out(drift)]),
        *captioned(drawn, "The table below has the same figures."),
        *result_table(drift).html(),
        *listing(reading(drift)),
    ]
    return Page(title(drift), body).html()


def picture(drift: Drift) -> str:
    """Return the plot as a file of its own."""
    with plotting(title(drift), 8.0, 3.4) as plot:
        _draw(plot, drift)
        return plot.picture(describe(drift))


def describe(drift: Drift) -> str:
    """Return the plot's values in words."""
    shown = [
        f"{night.made[:10]}: {figure(night.estimate.value)} ({interval(night.estimate)})" for night in drift.nights
    ]
    return f"{drift.measure} by day: {'; '.join(shown)}."


def _draw(plot: Plot, drift: Drift) -> None:
    days = _days(drift)
    values = [night.estimate.value or 0.0 for night in drift.nights]
    (axes,) = plot.panels
    plot.intervals(axes, days, [night.estimate for night in drift.nights])
    axes.plot(days, values, "o-", color=LINE, linewidth=0.8, label=drift.measure)
    daily = drift.trend.slope_per_day
    slope = daily if daily is not None else drift.trend.slope_per_result
    if drift.trend.direction in ("falling", "rising") and slope is not None:
        steps = days if daily is not None else [float(i) for i in range(len(days))]
        ends = _ends(steps, values, slope)
        label = f"{drift.trend.direction}, {pace(drift.trend)}"
        axes.plot([days[0], days[-1]], ends, color=LINE, linestyle="--", label=label)
    step = -(-len(days) // LABELLED)
    axes.set_xticks(days[::step], [night.made[:10] for night in drift.nights][::step], rotation=30)
    axes.set_ylabel(drift.measure)
    axes.legend(frameon=False, labelcolor=INK)


def _ends(steps: Sequence[float], values: Sequence[float], slope: float) -> list[float]:
    """Return the trend's line at the first and the last result, through the median of what the slope leaves."""
    rest = sorted(value - slope * x for x, value in zip(steps, values, strict=True))
    return [rest[len(steps) // 2] + slope * x for x in (steps[0], steps[-1])]


def _days(drift: Drift) -> list[float]:
    times = [datetime.fromisoformat(night.made) for night in drift.nights]
    return [(time - times[0]).total_seconds() / 86400 for time in times]
