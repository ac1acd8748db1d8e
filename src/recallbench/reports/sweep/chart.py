"""The picture of a sweep where no picture can be shown: a chart in Markdown, which GitHub and others draw."""

from __future__ import annotations

import math

from recallbench.reports.sweep.words import MEMBERS
from recallbench.results.sweep.document import BASELINE, SweepDocument

MOST = 24
"""Bars that can be told apart."""


def chart(document: SweepDocument) -> list[str]:
    """Return the held-out value of each point, the fastest first; empty where fewer than two have one.

    Of many points those stand that are told of: chosen, best, knee, front, set and baseline. Names are p1, p2 … alone:
    nothing in it is anybody's words.
    """
    shown = [
        (point.p95_ms, point.held_out.value, point.name)
        for point in document.points
        if point.p95_ms is not None and point.held_out is not None and point.held_out.value is not None
    ]
    choice = document.choice
    if len(shown) > MOST:
        knee = choice.knee.point if choice.knee is not None else None
        told = [choice.chosen, choice.best, knee, BASELINE, *choice.front, *choice.set[:MEMBERS]]
        shown = [each for each in shown if each[2] in told[:MOST]]
    if len(shown) < 2:
        return []
    shown.sort()
    values = [value for _, value, _ in shown]
    # From 0: bars are read by their length.
    high = max(0.05, math.ceil(20 * max(values)) / 20)
    baseline = [value for _, value, name in shown if name == BASELINE]
    line = [f"    line [{', '.join([f'{value:.4f}'] * len(shown))}]" for value in baseline]
    words = "; the line is the baseline" if baseline else ""
    return [
        "```mermaid",
        "xychart-beta",
        f'    title "held-out {document.measure}, from p95 {shown[0][0]:.3g} to {shown[-1][0]:.3g} ms"',
        f"    x-axis [{', '.join(name for _, _, name in shown)}]",
        f'    y-axis "{document.measure}" 0 --> {high:.2f}',
        f"    bar [{', '.join(f'{value:.4f}' for value in values)}]",
        *line,
        "```",
        "",
        f"The fastest point is at the left{words}. Intervals, front, knee and gates are in recall_by_p95.svg.",
    ]
