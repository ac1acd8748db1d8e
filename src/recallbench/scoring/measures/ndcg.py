"""ndcg@k and ndcg@k(graded)."""

from __future__ import annotations

import numpy as np

from recallbench.scoring.judgement import Bools, Floats, Judged
from recallbench.scoring.measures.draws import expected
from recallbench.scoring.measures.measure import Alias, Measure, share


class Ndcg(Measure):
    """Grades in the top k, each divided by log2(rank + 1), over the best such sum that the grades allow.

    Gain is linear; a question without grades has grade 1 on each gold segment. Where one of several gold
    segments is enough, the best sum has as many of them on top as are in the top k, at least one. `ndcg@k(graded)` is
    the mean over the questions with grades only.
    """

    __slots__ = ()
    name = "ndcg"
    options = ("graded",)
    elsewhere = (Alias("ndcg_cut_{k}", "trec_eval"), Alias("nDCG@{k}", "ir_measures"))
    ordered = True

    def counted(self, judged: Judged) -> Bools:
        with_gold: Bools = judged.gold > 0
        return with_gold & judged.has_grades if self.option == "graded" else with_gold

    def values(self, judged: Judged) -> Floats:
        gain = judged.graded.sum(_discounts(self.k), len(judged))
        if not (enough := judged.one_enough).any():
            return self._over_ideal(judged, gain)
        # Where one segment is enough, further ones that did not come back do not lower the value.
        reached = np.cumsum(_discounts(self.k))
        of_best = share(gain, reached[np.maximum(judged.gold_within(self.k), 1) - 1])
        return np.where(enough & self.counted(judged), np.minimum(of_best, 1.0), self._over_ideal(judged, gain))

    def chance(self, judged: Judged) -> Floats:
        reached = np.concatenate(([0.0], np.cumsum(_discounts(self.k))))
        each = share(judged.total_grade, judged.candidates)
        chance = self._over_ideal(judged, each * reached[np.minimum(judged.candidates, self.k)])
        if not (enough := judged.one_enough).any():
            return chance
        return np.where(enough & self.counted(judged), self._chance_of_one(judged, reached), chance)

    def ceiling(self, judged: Judged) -> Floats:
        return (self.counted(judged) & (judged.total_grade > 0)).astype(np.float64)

    def _chance_of_one(self, judged: Judged, reached: Floats) -> Floats:
        """Return chance where one segment is enough: each place of the top k is equally likely to hold a gold one."""
        within = np.minimum(judged.candidates, self.k)
        top = reached[np.minimum(within, self.k)]

        def gain(hits: int) -> Floats:
            ideal: float = reached[min(max(hits, 1), self.k)]
            return hits * share(top, within) / ideal

        return expected(judged, self.k, gain)

    def _over_ideal(self, judged: Judged, gain: Floats) -> Floats:
        of_ideal: Floats = share(gain, judged.ideal.sum(_discounts(self.k), len(judged)))
        of_ideal[~self.counted(judged)] = 0.0
        # A perfect ranking is summed in another order than its ideal, so rounding may take it above 1.
        return np.minimum(of_ideal, 1.0)


def _discounts(k: int) -> Floats:
    discounts: Floats = 1.0 / np.log2(np.arange(2.0, k + 2.0))
    return discounts
