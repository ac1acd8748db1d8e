"""Reciprocal rank fusion: ranks decide, scores don't."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Self

import numpy as np

from recallbench.retrieval.stages.candidates import Candidates
from recallbench.retrieval.stages.leg_weights import WEIGHTS, that_count, weights_of
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
        return cls(K.read(request.options), weights_of(WEIGHTS.read(request.options), request.legs))

    @classmethod
    def check_legs(cls, options: Mapping[str, str], legs: Sequence[str]) -> None:
        weights_of(WEIGHTS.read(options), legs)

    def __init__(self, k: float, weights: Mapping[str, float]) -> None:
        """`weights` has every leg by name."""
        self._k, self._weights = k, weights

    def fuse(self, batch: QuestionBatch, lists: Sequence[Candidates], legs: Sequence[str]) -> Candidates:
        weighted = that_count(lists, legs, self._weights)
        given = [
            np.broadcast_to(weight / (self._k + 1 + np.arange(candidates.ids.shape[1])), candidates.ids.shape)
            for candidates, weight in weighted
        ]
        pool = pooled(len(batch), [candidates for candidates, _ in weighted], given)
        return ranked(pool.ids, pool.sums, pool.sizes)
