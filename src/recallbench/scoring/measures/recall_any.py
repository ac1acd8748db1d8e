"""recall_any@k."""

from __future__ import annotations

import numpy as np

from recallbench.scoring.judgement import Floats, Judged
from recallbench.scoring.measures.measure import Alias, Measure


class RecallAny(Measure):
    """1 when at least one gold segment is in the top k, else 0: the protocol's recall@k (clarification 1)."""

    __slots__ = ()
    name = "recall_any"
    elsewhere = (
        Alias("recall@{k}", "the protocol"),
        Alias("R@{k}"),
        Alias("success_{k}", "trec_eval"),
        Alias("Success@{k}", "ir_measures"),
        Alias("hit_rate@{k}"),
        Alias("hit@{k}"),
        Alias("hits@{k}"),
        Alias("recall_any@{k}", "LongMemEval"),
    )
    binary = True

    def values(self, judged: Judged) -> Floats:
        return (judged.gold_within(self.k) > 0).astype(np.float64)

    def chance(self, judged: Judged) -> Floats:
        # 1 - C(N-G, k) / C(N, k), as a product: factorials overflow, and their logarithms cancel digits away.
        missed = np.ones(len(judged))
        for drawn in range(min(self.k, int(judged.candidates.max(initial=0)))):
            left = judged.candidates - drawn
            missed *= np.maximum(left - judged.answering, 0) / np.maximum(left, 1)
        return np.where(judged.gold > 0, 1.0 - missed, 0.0)

    def ceiling(self, judged: Judged) -> Floats:
        return (judged.gold > 0).astype(np.float64)
