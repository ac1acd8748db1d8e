"""f1@k."""

from __future__ import annotations

import numpy as np

from recallbench.scoring.judgement import Floats, Ints, Judged
from recallbench.scoring.measures.draws import expected
from recallbench.scoring.measures.measure import Measure, share


class F1(Measure):
    """The harmonic mean of a question's precision@k and recall_frac@k.

    With h gold segments found and G there are, that is 2h / (k + G). `f1_of_means@k` averages first.
    """

    __slots__ = ()
    name = "f1"
    elsewhere = ("f", "set_f")

    def values(self, judged: Judged) -> Floats:
        return self._of(judged, judged.found(self.k))

    def chance(self, judged: Judged) -> Floats:
        found = np.minimum(judged.candidates, self.k) * share(judged.gold, judged.candidates)
        each = 2.0 * found / (judged.gold + self.k)
        if not (enough := judged.one_enough).any():
            return each
        return np.where(enough, expected(judged, self.k, lambda hits: 2.0 * hits / (hits + self.k)), each)

    def ceiling(self, judged: Judged) -> Floats:
        return self._of(judged, np.minimum(judged.answering, self.k))

    def _of(self, judged: Judged, found: Ints) -> Floats:
        # Of several that say one thing more than that one may be found: precision counts them, recall stays 1.
        f1: Floats = 2.0 * found / (np.maximum(judged.gold, found) + self.k)
        return f1
