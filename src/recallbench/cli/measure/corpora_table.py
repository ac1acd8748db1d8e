"""Results on several corpora, a row each."""

from __future__ import annotations

from collections.abc import Sequence

from recallbench.corpora.labelled_sets.set_name import plain_names
from recallbench.reports.cells import figure, interval, system
from recallbench.reports.summary import leading
from recallbench.reports.table import Table
from recallbench.results.metrics import OVERALL, Metrics

OTHERS = ("recall_frac@10", "recall_all@10", "mrr@50")


def corpora_table(results: Sequence[Metrics]) -> Table:
    """Return each result with its leading measure beside BM25 and chance, and three others."""
    rows = []
    for metrics in results:
        estimates = {estimate.measure: estimate for estimate in metrics.estimates[OVERALL]}
        first = leading(metrics)
        name = "" if first is None else first.measure
        rows.append(
            (
                plain_names(metrics.corpus.name),
                system(metrics),
                "–" if first is None else str(first.n),
                name,
                figure(None if first is None else first.value),
                "–" if first is None else interval(first),
                figure(metrics.bm25(name)),
                figure(None if first is None else first.chance),
                *(figure(estimates[other].value if other in estimates else None) for other in OTHERS),
            )
        )
    head = ("corpus", "store", "n", "measure", "value", "95% interval", "BM25", "chance", *OTHERS)
    return Table(head, rows, caption="Several corpora", left=["corpus", "store", "measure"])
