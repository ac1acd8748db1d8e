"""recall_all@k."""

from __future__ import annotations

import numpy as np

from recallbench.scoring.judgement import Bools, Floats, Judged
from recallbench.scoring.measures.measure import Alias, Measure
from recallbench.scoring.measures.recall_any import RecallAny


class RecallAll(Measure):
    """1 when every gold segment is in the top k, else 0: always 0 with more gold than k."""

    __slots__ = ()
    name = "recall_all"
    elsewhere = (Alias("recall@{k}"), Alias("all_hit@{k}"), Alias("recall_all@{k}", "LongMemEval"))
    binary = True

    def values(self, judged: Judged) -> Floats:
        whole: Bools = judged.gold_within(self.k) >= judged.gold
        return (whole & (judged.gold > 0)).astype(np.float64)

    def chance(self, judged: Judged) -> Floats:
        # C(N-G, k-G) / C(N, k): each gold segment in turn falls on one of the places left in the top k.
        places = np.minimum(judged.candidates, self.k)
        chance = np.ones(len(judged))
        for drawn in range(int(np.minimum(judged.gold, self.k).max(initial=0))):
            waiting = judged.gold > drawn
            step = np.maximum(places - drawn, 0) / np.maximum(judged.candidates - drawn, 1)
            chance = np.where(waiting, chance * step, chance)
        whole = np.where((judged.gold > 0) & (judged.gold <= self.k), chance, 0.0)
        if not (enough := judged.one_enough).any():
            return whole
        return np.where(enough, RecallAny(self.k).chance(judged), whole)

    def ceiling(self, judged: Judged) -> Floats:
        return ((judged.gold > 0) & (judged.gold <= self.k)).astype(np.float64)
