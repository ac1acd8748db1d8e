"""f1@k."""

from __future__ import annotations

import numpy as np

from recallbench.scoring.judgement import Floats, Judged
from recallbench.scoring.measures.measure import Measure, share


class F1(Measure):
    """The harmonic mean of a question's precision@k and recall_frac@k.

    With h gold segments found and G there are, that is 2h / (k + G). `f1_of_means@k` averages first.
    """

    __slots__ = ()
    name = "f1"
    elsewhere = ("f", "set_f")

    def values(self, judged: Judged) -> Floats:
        return 2.0 * judged.found(self.k) / (judged.gold + self.k)

    def chance(self, judged: Judged) -> Floats:
        found = np.minimum(judged.candidates, self.k) * share(judged.gold, judged.candidates)
        return 2.0 * found / (judged.gold + self.k)

    def ceiling(self, judged: Judged) -> Floats:
        return 2.0 * np.minimum(judged.gold, self.k) / (judged.gold + self.k)
