"""f1_of_means@k and f1_of_means@k(retrieved)."""

from __future__ import annotations

from recallbench.scoring.judgement import Floats, Judged
from recallbench.scoring.measures.measure import Measure
from recallbench.scoring.measures.precision import Precision
from recallbench.scoring.measures.recall_frac import RecallFrac


class F1OfMeans(Measure):
    """The harmonic mean of the mean precision@k and the mean recall_frac@k.

    It belongs to a set of questions, not to one. A question's value is its linearised part: the parts average to the
    measure, and their spread is its (delta method) standard error; one part alone may lie outside 0 to 1. Chance and
    ceiling are the harmonic means of those of the two. `f1_of_means@k(retrieved)` is that of precision@k(retrieved).
    """

    __slots__ = ()
    name = "f1_of_means"
    options = ("retrieved",)
    separable = False

    def values(self, judged: Judged) -> Floats:
        precision, recall = self._pair()
        return _parts(judged, precision.values(judged), recall.values(judged))

    def chance(self, judged: Judged) -> Floats:
        precision, recall = self._pair()
        return _parts(judged, precision.chance(judged), recall.chance(judged))

    def ceiling(self, judged: Judged) -> Floats:
        precision, recall = self._pair()
        return _parts(judged, precision.ceiling(judged), recall.ceiling(judged))

    def _pair(self) -> tuple[Precision, RecallFrac]:
        return Precision(self.k, self.option), RecallFrac(self.k)


def _parts(judged: Judged, precision: Floats, recall: Floats) -> Floats:
    """Return 2pr / (p + r) at the means, plus its slopes times each question's distance from the means."""
    counted = judged.gold > 0
    if not counted.any():
        return precision * 0.0
    p, r = precision[counted].mean(), recall[counted].mean()
    if p + r == 0.0:
        return precision * 0.0
    slope_p, slope_r = 2 * (r / (p + r)) ** 2, 2 * (p / (p + r)) ** 2
    parts: Floats = 2 * p * r / (p + r) + slope_p * (precision - p) + slope_r * (recall - r)
    parts[~counted] = 0.0
    return parts
