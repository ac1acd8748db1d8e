"""Results that were just made, as rows of a sheet and as a document for programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from recallbench.corpora.labelled_sets.set_name import short_names
from recallbench.reports.cells import figure, system
from recallbench.reports.conclusions.measured import Measured
from recallbench.reports.table import Table

COLUMNS = ("folder", "corpus", "store", "measure", "value", "low", "high", "n", "chance", "BM25", "saturated")


def headline_sheet(results: Sequence[Measured]) -> Table:
    """Return a row for each figure of the headline of each result."""
    rows = []
    for measured in results:
        metrics = measured.metrics
        for part in metrics.headline:
            e = part.estimate
            floats = (e.value, e.low, e.high, e.chance, metrics.bm25(e.measure), e.saturated)
            value, low, high, chance, bm25, saturated = ("" if number is None else figure(number) for number in floats)
            place = (str(measured.folder), short_names(metrics.corpus.name), system(metrics), e.measure)
            rows.append((*place, value, low, high, str(e.n), chance, bm25, saturated))
    return Table(COLUMNS, rows)


def result_document(measured: Measured) -> dict[str, Any]:
    """Return what a program wants to know at once; everything is in metrics.json."""
    metrics = measured.metrics
    return {
        "folder": str(measured.folder),
        "corpus": metrics.corpus.name,
        "store": metrics.store.name,
        "store_variant": metrics.store.variant,
        "store_version": metrics.store.version,
        "embedder": metrics.embedder.name if metrics.embedder else None,
        "headline": [
            {**e.model_dump(), "protocol_name": part.protocol_name, "bm25": metrics.bm25(e.measure)}
            for part in metrics.headline
            for e in [part.estimate]
        ],
        "failed": list(metrics.retrieval.failed),
        "short_questions": metrics.retrieval.short_questions,
        "busy": measured.busy,
        "deviations": [deviation.model_dump() for deviation in metrics.deviations],
        "gates": {gate.name: gate.status for gate in metrics.gates},
        "verdict": metrics.verdict.text,
        "canonical": metrics.verdict.canonical,
    }
