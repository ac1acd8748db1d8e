"""mrr@d."""

from __future__ import annotations

import numpy as np

from recallbench.scoring.judgement import Floats, Judged
from recallbench.scoring.measures.measure import Alias, Measure, share


class Mrr(Measure):
    """1 / rank of the first gold segment, 0 when it is not within depth d; the protocol's MRR is mrr@50."""

    __slots__ = ()
    name = "mrr"
    elsewhere = (Alias("recip_rank", "trec_eval"), Alias("RR@{k}", "ir_measures"), Alias("mean_reciprocal_rank"))
    ordered = True

    def values(self, judged: Judged) -> Floats:
        return np.where(judged.gold_within(self.k) > 0, reciprocal_rank(judged), 0.0)

    def chance(self, judged: Judged) -> Floats:
        # The first gold is at rank r with C(N-r, G-1) / C(N, G); each rank follows from the one before.
        first = share(judged.answering, judged.candidates)
        total = np.zeros(len(judged))
        for rank in range(1, min(self.k, int(judged.candidates.max(initial=0))) + 1):
            total += first / rank
            left = judged.candidates - rank
            first = first * np.maximum(left - judged.answering + 1, 0) / np.maximum(left, 1)
        return total

    def ceiling(self, judged: Judged) -> Floats:
        return (judged.gold > 0).astype(np.float64)


def reciprocal_rank(judged: Judged) -> Floats:
    """(Q,): 1 / rank of the first gold segment, wherever it stands; 0 where none came back."""
    return share(np.ones(len(judged)), judged.first)
