"""precision@k and precision@k(retrieved)."""

from __future__ import annotations

import numpy as np

from recallbench.scoring.judgement import Floats, Judged
from recallbench.scoring.measures.measure import Alias, Measure, share


class Precision(Measure):
    """Gold segments in the top k, divided by k: a short ranking is not forgiven.

    `precision@k(retrieved)` divides by what came back, k at most, and is 0 when nothing did.
    """

    __slots__ = ()
    name = "precision"
    options = ("retrieved",)
    elsewhere = (Alias("P_{k}", "trec_eval"), Alias("P@{k}", "ir_measures"))

    def values(self, judged: Judged) -> Floats:
        if self.option == "retrieved":
            return share(judged.gold_within(self.k), np.minimum(judged.returned, self.k))
        return judged.gold_within(self.k) / self.k

    def chance(self, judged: Judged) -> Floats:
        each = share(judged.answering, judged.candidates)
        # A haystack smaller than k cannot fill the top k, which dividing by k does not forgive.
        return each if self.option == "retrieved" else each * np.minimum(judged.candidates, self.k) / self.k

    def ceiling(self, judged: Judged) -> Floats:
        if self.option == "retrieved":
            return (judged.gold > 0).astype(np.float64)
        return np.minimum(judged.answering, self.k) / self.k
