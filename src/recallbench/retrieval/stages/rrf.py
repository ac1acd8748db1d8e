"""Reciprocal rank fusion: ranks decide, scores don't."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Self

import numpy as np

from recallbench.retrieval.stages.candidates import Candidates
from recallbench.retrieval.stages.leg_weights import WEIGHTS, by_list
from recallbench.retrieval.stages.pool import pooled, ranked
from recallbench.retrieval.stages.stage import FuseStage, QuestionBatch, StageOption, StageRequest


def read_k(text: str) -> float:
    """Return a number of 0 or more; raises ValueError for another text."""
    k = float(text)
    if not 0 <= k < float("inf"):
        raise ValueError(f"{text} is not 0 or more")
    return k


K = StageOption("k", "Softens the first ranks: rank r of a list gives 1 / (k + r)", default="60", parse=read_k)


class RrfStage(FuseStage):
    """Each list gives weight / (k + rank) to its candidates (Cormack, Clarke and Buettcher 2009); ties go by id.

    A leg with several lists, one for each rewritten question, gives through each of them. A leg of weight 0 is left
    out, with the candidates that it alone found.
    """

    method: ClassVar[str] = "rrf"
    summary: ClassVar[str] = "reciprocal rank fusion"
    options: ClassVar[tuple[StageOption, ...]] = (K, WEIGHTS)

    @classmethod
    def open(cls, request: StageRequest) -> Self:
        return cls(K.read(request.options), WEIGHTS.read(request.options))

    def __init__(self, k: float, weights: Sequence[float] | None = None) -> None:
        self._k, self._weights = k, weights

    def fuse(self, batch: QuestionBatch, lists: Sequence[Candidates], legs: Sequence[str]) -> Candidates:
        weighted = [pair for pair in zip(lists, by_list(self._weights, legs), strict=True) if pair[1]]
        given = [
            np.broadcast_to(weight / (self._k + 1 + np.arange(candidates.ids.shape[1])), candidates.ids.shape)
            for candidates, weight in weighted
        ]
        pool = pooled([candidates for candidates, _ in weighted], given)
        return ranked(pool.ids, pool.sums, pool.sizes)
