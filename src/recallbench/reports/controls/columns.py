"""The controls of a result as columns of a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from recallbench.reports.cells import figure
from recallbench.results.metrics import OVERALL, EstimatePart, Metrics


def control_names(metrics: Metrics) -> list[str]:
    """Return the head of each control's column: BM25, and the static one where it was asked for."""
    return list(_tables(metrics))


def controls(metrics: Metrics, measure: str) -> list[str]:
    """Return what each control reaches by this measure over all questions."""
    return [
        next((figure(estimate.value) for estimate in table[OVERALL] if estimate.measure == measure), "–")
        for table in _tables(metrics).values()
    ]


def _tables(metrics: Metrics) -> Mapping[str, Mapping[str, Sequence[EstimatePart]]]:
    static = metrics.control_static
    return {"BM25": metrics.control_bm25, **({"static": static} if static is not None else {})}
