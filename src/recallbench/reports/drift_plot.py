"""A measure over time, drawn as SVG; a page around it, or a file of its own."""

from __future__ import annotations

import io
from datetime import datetime

from recallbench.escaping.web import html
from recallbench.reports.cells import figure, interval
from recallbench.reports.drift import HEADER, Drift, findings, left_out, pace, reading, rows, title
from recallbench.reports.versions_page import STYLE, listed, page, tabled
from recallbench.reports.versions_plot import INK, LINE, OPTIONS, inlined

LABELLED = 8
"""So many dates at most stand below the plot."""


def draw(drift: Drift) -> str:
    """An SVG element with title and description."""
    # Imported here: it takes half a second, which no other command should wait for.
    import matplotlib
    from matplotlib.figure import Figure

    days = _days(drift)
    bounded = [(x, one.estimate) for x, one in zip(days, drift.nights, strict=True) if one.estimate.low is not None]
    with matplotlib.rc_context(OPTIONS):
        # The object itself, not pyplot: that would ask for a display and keep the figure.
        paper = Figure(figsize=(8.0, 3.4), layout="constrained")
        place = paper.subplots()
        values = [one.estimate.value or 0.0 for one in drift.nights]
        place.errorbar(
            [x for x, _ in bounded],
            [one.value or 0.0 for _, one in bounded],
            [
                [(one.value or 0.0) - (one.low or 0.0) for _, one in bounded],
                [(one.high or 0.0) - (one.value or 0.0) for _, one in bounded],
            ],
            fmt="none",
            ecolor=INK,
            color=INK,
            capsize=3,
            label="95% interval of each value",
        )
        place.plot(days, values, "o-", color=LINE, linewidth=0.8, label=drift.measure)
        daily = drift.trend.slope_per_day
        slope = daily if daily is not None else drift.trend.slope_per_result
        if drift.trend.direction in ("falling", "rising") and slope is not None:
            steps = days if daily is not None else [float(i) for i in range(len(days))]
            middle = sorted(value - slope * x for x, value in zip(steps, values, strict=True))[len(steps) // 2]
            label = f"{drift.trend.direction}, {pace(drift.trend)}"
            ends = [middle + slope * x for x in (steps[0], steps[-1])]
            place.plot([days[0], days[-1]], ends, color=LINE, linestyle="--", label=label)
        step = -(-len(days) // LABELLED)
        place.set_xticks(days[::step], [one.made[:10] for one in drift.nights][::step], rotation=30)
        place.set_ylabel(drift.measure, color=INK)
        place.tick_params(colors=INK)
        for side, spine in place.spines.items():
            spine.set_color(INK)
            spine.set_visible(side not in ("top", "right"))
        place.legend(frameon=False, labelcolor=INK)
        kept = io.StringIO()
        paper.savefig(kept, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    return inlined(kept.getvalue(), title(drift), described(drift))


def described(drift: Drift) -> str:
    """What the plot shows, in words."""
    shown = [f"{one.made[:10]}: {figure(one.estimate.value)} ({interval(one.estimate)})" for one in drift.nights]
    return f"{drift.measure} by day: {'; '.join(shown)}."


def picture(drift: Drift) -> str:
    """The plot as a file of its own, which any viewer shows, by day and by night."""
    head, tail = draw(drift).split(">", 1)
    return f"{head}><style>{STYLE.partition('body {')[0]}svg text {{ fill: var(--ink) }}</style>{tail}\n"


def render(drift: Drift) -> str:
    """The plot with its table, in one page that needs nothing else."""
    body = [
        *listed([*findings(drift), *left_out(drift)]),
        "<figure>",
        draw(drift),
        "<figcaption>The table below has the same figures.</figcaption>",
        "</figure>",
        *tabled("Results, earliest first", HEADER, [[html(cell) for cell in row] for row in rows(drift)]),
        *listed(reading(drift)),
    ]
    return page(title(drift), body)


def _days(drift: Drift) -> list[float]:
    times = [datetime.fromisoformat(one.made) for one in drift.nights]
    return [(one - times[0]).total_seconds() / 86400 for one in times]
