"""recall_frac@k."""

from __future__ import annotations

import numpy as np

from recallbench.scoring.judgement import Floats, Judged
from recallbench.scoring.measures.measure import Measure, share


class RecallFrac(Measure):
    """The share of a question's gold segments that is in the top k.

    What the published v0.2.1 baselines counted (clarification 1). Elsewhere: TREC's recall@k, LoCoMo's recall.
    """

    __slots__ = ()
    name = "recall_frac"
    elsewhere = ("recall",)

    def values(self, judged: Judged) -> Floats:
        return share(judged.found(self.k), judged.gold)

    def chance(self, judged: Judged) -> Floats:
        return share(np.minimum(judged.candidates, self.k), judged.candidates) * (judged.gold > 0)

    def ceiling(self, judged: Judged) -> Floats:
        return share(np.minimum(judged.gold, self.k), judged.gold)
