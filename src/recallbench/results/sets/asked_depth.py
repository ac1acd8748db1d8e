"""Whether something right is among the first k, at the k that somebody asked for; a result has that of the protocol."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from recallbench.results.figures import estimate_part
from recallbench.results.metrics import OVERALL, EstimatePart
from recallbench.retrieval.record import Retrieval
from recallbench.scoring.calls import clusters_of, judge_calls, judge_rankings
from recallbench.scoring.estimate import estimates
from recallbench.scoring.judgement import Judged
from recallbench.scoring.measures.registry import parse


class AskedDepth(NamedTuple):
    """The figure at one k, and BM25's."""

    estimate: EstimatePart
    bm25: float | None


def asked_depth(retrieval: Retrieval, k: int) -> AskedDepth:
    """Return recall_any at k over all questions, of rankings that reach it."""
    measure, everything = parse(f"recall_any@{k}"), {OVERALL: np.ones(len(retrieval.questions), dtype=bool)}

    def at_k(*calls: Judged) -> EstimatePart:
        (estimate,) = estimates([measure], calls, clusters_of(retrieval.questions), everything)[OVERALL]
        return estimate_part(estimate)

    control = judge_rankings(retrieval, retrieval.control, retrieval.calls.depth) if retrieval.control else None
    return AskedDepth(at_k(*judge_calls(retrieval)), None if control is None else at_k(control).value)
