"""CombMNZ: the sum of scores, times the number of lists that agree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Self

from recallbench.retrieval.stages.candidates import Candidates
from recallbench.retrieval.stages.normalisation import minmax
from recallbench.retrieval.stages.pool import pooled, ranked
from recallbench.retrieval.stages.stage import FuseStage, QuestionBatch, StageRequest


class CombMnzStage(FuseStage):
    """The sum of a candidate's scores from 0 to 1 in each list, times the lists that have it (Fox and Shaw 1994).

    Ties go by id.
    """

    method: ClassVar[str] = "combmnz"
    summary: ClassVar[str] = "sum of min-max scores, times the lists that have it"

    @classmethod
    def open(cls, request: StageRequest) -> Self:
        return cls()

    def fuse(self, batch: QuestionBatch, lists: Sequence[Candidates], legs: Sequence[str]) -> Candidates:
        pool = pooled(len(batch), lists, [minmax(candidates) for candidates in lists])
        return ranked(pool.ids, pool.sums * pool.counts, pool.sizes)
