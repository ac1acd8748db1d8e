"""returned_share@k."""

from __future__ import annotations

import numpy as np

from recallbench.scoring.judgement import Bools, Floats, Judged
from recallbench.scoring.measures.measure import Measure, share


class ReturnedShare(Measure):
    """The rows that came back, of those that were asked for and that the haystack holds: below 1, an answer was short.

    It knows no gold, so questions that nothing answers count too.
    """

    __slots__ = ()
    name = "returned_share"

    def counted(self, judged: Judged) -> Bools:
        counted: Bools = judged.candidates > 0
        return counted

    def values(self, judged: Judged) -> Floats:
        return share(np.minimum(judged.returned, self.k), np.minimum(judged.candidates, self.k))

    def chance(self, judged: Judged) -> Floats:
        return self.ceiling(judged)

    def ceiling(self, judged: Judged) -> Floats:
        return self.counted(judged).astype(np.float64)
