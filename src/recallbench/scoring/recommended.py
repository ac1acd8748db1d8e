"""Thresholds to begin with, which are no standard."""

from __future__ import annotations

from collections.abc import Mapping

from recallbench.scoring.measures.measure import Measure
from recallbench.scoring.measures.mrr import Mrr
from recallbench.scoring.measures.ndcg import Ndcg
from recallbench.scoring.measures.precision import Precision
from recallbench.scoring.measures.recall_frac import RecallFrac

RECOMMENDED = "recommended"
"""The word for them in files and options."""


def recommended(k: int) -> Mapping[Measure, float]:
    """Return the floor of each measure at this k; precision is over the returned hits."""
    return {Precision(k, "retrieved"): 0.8, RecallFrac(k): 0.7, Ndcg(k): 0.85, Mrr(k): 0.9}
