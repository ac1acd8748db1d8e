"""A weighted sum of scores that were brought to one scale."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Self

import numpy as np

from recallbench.errors import UsageError
from recallbench.retrieval.stages.candidates import Candidates
from recallbench.retrieval.stages.leg_weights import WEIGHTS, by_list
from recallbench.retrieval.stages.normalisation import NORMALISATIONS
from recallbench.retrieval.stages.pool import pooled, ranked
from recallbench.retrieval.stages.stage import FuseStage, QuestionBatch, StageOption, StageRequest


def read_share(text: str) -> float:
    """Return a number from 0 to 1; raises ValueError for another text."""
    share = float(text)
    if not 0 <= share <= 1:
        raise ValueError(f"{text} is not from 0 to 1")
    return share


NORMALISE = StageOption(
    "normalise", "The scale that scores are brought to", default="minmax", values=tuple(NORMALISATIONS)
)
ALPHA = StageOption("alpha", "The share of the first of two legs, from 0 to 1", parse=read_share)


class WeightedStage(FuseStage):
    """Each leg gives its weight times the score, brought to one scale for each question; legs weigh alike by default.

    A candidate that a list does not have gets 0 from it, or the list's lowest score where that is below 0: not to be
    found is never worth more than to be found last. Ties go by id. A leg of weight 0 is left out, with the candidates
    that it alone found.
    """

    method: ClassVar[str] = "weighted"
    summary: ClassVar[str] = "weighted sum of scores on one scale"
    options: ClassVar[tuple[StageOption, ...]] = (NORMALISE, ALPHA, WEIGHTS)

    @classmethod
    def open(cls, request: StageRequest) -> Self:
        cls.check(request.options)
        alpha: float | None = ALPHA.read(request.options)
        weights = WEIGHTS.read(request.options) if alpha is None else (alpha, 1 - alpha)
        return cls(NORMALISE.read(request.options), weights)

    @classmethod
    def check(cls, options: Mapping[str, str]) -> None:
        if "alpha" in options and "weights" in options:
            raise UsageError("a weighted sum takes `alpha` or `weights`", expected="one of the two", found="both")

    def __init__(self, normalise: str, weights: Sequence[float] | None = None) -> None:
        self._normalise, self._weights = NORMALISATIONS[normalise], weights

    def fuse(self, batch: QuestionBatch, lists: Sequence[Candidates], legs: Sequence[str]) -> Candidates:
        weighted = [pair for pair in zip(lists, by_list(self._weights, legs), strict=True) if pair[1]]
        given, otherwise = [], np.zeros((len(batch), 1))
        for candidates, weight in weighted:
            scores = weight * self._normalise(candidates)
            lowest = scores.min(1, keepdims=True, initial=0.0)
            # What a list gives to those that it does not have goes to all, and is taken off again from those it has.
            otherwise += lowest
            given.append(scores - lowest)
        pool = pooled([candidates for candidates, _ in weighted], given)
        return ranked(pool.ids, pool.sums + otherwise, pool.sizes)
