"""recall_frac@k."""

from __future__ import annotations

import numpy as np

from recallbench.scoring.judgement import Floats, Judged
from recallbench.scoring.measures.measure import Alias, Measure, share
from recallbench.scoring.measures.recall_any import RecallAny


class RecallFrac(Measure):
    """The share of a question's gold segments that is in the top k; where one is enough, 1 with the first of them.

    The published v0.2.1 baselines counted it (clarification 1).
    """

    __slots__ = ()
    name = "recall_frac"
    elsewhere = (Alias("recall_{k}", "trec_eval"), Alias("R@{k}", "ir_measures"), Alias("recall@{k}", "LoCoMo"))

    def values(self, judged: Judged) -> Floats:
        return share(np.minimum(judged.gold_within(self.k), judged.gold), judged.gold)

    def chance(self, judged: Judged) -> Floats:
        each = share(np.minimum(judged.candidates, self.k), judged.candidates) * (judged.gold > 0)
        if not (enough := judged.one_enough).any():
            return each
        return np.where(enough, RecallAny(self.k).chance(judged), each)

    def ceiling(self, judged: Judged) -> Floats:
        return share(np.minimum(judged.gold, self.k), judged.gold)
