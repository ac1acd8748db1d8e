"""The part of report.md on the controls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from recallbench.escaping.markdown import code, inline
from recallbench.reports.cells import figure, interval
from recallbench.reports.table import Table
from recallbench.results.metrics import COMPARED, OVERALL, EstimatePart, Metrics


def control_section(metrics: Metrics) -> list[str]:
    """Return the part of a report on its controls."""
    lines = [
        "## Lexical control (BM25)",
        "",
        *_table(metrics.control_bm25),
        "",
        "Kept as `run.bm25.trec`.",
    ]
    if metrics.control_static is not None:
        encoder = (metrics.static_fingerprint or {}).get("encoder", "")
        lines += ["", inline(f"## Static control ({encoder})"), "", *_table(metrics.control_static)]
        lines += ["", "Kept as `run.static.trec`."]
    return lines


def _table(estimates: Mapping[str, Sequence[EstimatePart]]) -> list[str]:
    rows = [
        (code(estimate.measure), figure(estimate.value), interval(estimate), figure(estimate.chance))
        for estimate in estimates[OVERALL]
        if estimate.measure in COMPARED
    ]
    return Table(("measure", "value", "95% interval", "chance"), rows).markdown()
