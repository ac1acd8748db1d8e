"""The thresholds that teams commonly hold a retriever to."""

from __future__ import annotations

from collections.abc import Mapping

from recallbench.scoring.measures.measure import Measure
from recallbench.scoring.measures.mrr import Mrr
from recallbench.scoring.measures.ndcg import Ndcg
from recallbench.scoring.measures.precision import Precision
from recallbench.scoring.measures.recall_frac import RecallFrac

RECOMMENDED = "recommended"
"""Their name, wherever thresholds are given."""


def recommended(k: int) -> Mapping[Measure, float]:
    """At least so much of each, at that k; precision is over what came back."""
    return {Precision(k, "retrieved"): 0.8, RecallFrac(k): 0.7, Ndcg(k): 0.85, Mrr(k): 0.9}
