"""f1@k and f1@k(retrieved)."""

from __future__ import annotations

import numpy as np

from recallbench.scoring.judgement import Floats, Ints, Judged
from recallbench.scoring.measures.draws import expected
from recallbench.scoring.measures.measure import Alias, Measure, share


class F1(Measure):
    """The harmonic mean of a question's precision@k and recall_frac@k.

    With h of G gold segments in the top k, that is 2h / (k + G). `f1@k(retrieved)` takes the precision over the r
    returned segments, k at most: 2h / (r + G). `f1_of_means@k` averages first.
    """

    __slots__ = ()
    name = "f1"
    options = ("retrieved",)
    elsewhere = (Alias("F@{k}"), Alias("set_F@{k}"))

    def values(self, judged: Judged) -> Floats:
        return self._of(judged, judged.gold_within(self.k), np.minimum(judged.returned, self.k))

    def chance(self, judged: Judged) -> Floats:
        drawn = np.minimum(judged.candidates, self.k)
        over = drawn if self.option == "retrieved" else np.full(len(judged), self.k)
        each = share(2.0 * drawn * share(judged.gold, judged.candidates), judged.gold + over)
        if not (enough := judged.one_enough).any():
            return each
        return np.where(
            enough, expected(judged, self.k, lambda hits: share(np.full(len(judged), 2.0 * hits), hits + over)), each
        )

    def ceiling(self, judged: Judged) -> Floats:
        most = np.minimum(judged.answering, self.k)
        return self._of(judged, most, most)

    def _of(self, judged: Judged, hits: Ints, returned: Ints) -> Floats:
        # Where one segment is enough several may come back: precision counts them, recall stays 1.
        over = returned if self.option == "retrieved" else np.full(len(judged), self.k)
        return share(2.0 * hits, np.maximum(judged.gold, hits) + over)
