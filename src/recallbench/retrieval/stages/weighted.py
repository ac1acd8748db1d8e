"""A weighted sum of scores that were brought to one scale."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Self

import numpy as np

from recallbench.errors import UsageError
from recallbench.retrieval.stages.candidates import Candidates
from recallbench.retrieval.stages.leg_weights import WEIGHTS, that_count, weights_of
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
        return cls(NORMALISE.read(request.options), _weights(request.options, request.legs))

    @classmethod
    def check(cls, options: Mapping[str, str]) -> None:
        if "alpha" in options and "weights" in options:
            raise UsageError("a weighted sum takes `alpha` or `weights`", expected="one of the two", found="both")

    @classmethod
    def check_legs(cls, options: Mapping[str, str], legs: Sequence[str]) -> None:
        _weights(options, legs)

    def __init__(self, normalise: str, weights: Mapping[str, float]) -> None:
        """`weights` has every leg by name."""
        self._normalise, self._weights = NORMALISATIONS[normalise], weights

    def fuse(self, batch: QuestionBatch, lists: Sequence[Candidates], legs: Sequence[str]) -> Candidates:
        weighted = that_count(lists, legs, self._weights)
        given, otherwise = [], np.zeros((len(batch), 1))
        for candidates, weight in weighted:
            scores = weight * self._normalise(candidates)
            lowest = scores.min(1, keepdims=True, initial=0.0)
            # What a list gives to those that it does not have goes to all, and is taken off again from those it has.
            otherwise += lowest
            given.append(scores - lowest)
        pool = pooled(len(batch), [candidates for candidates, _ in weighted], given)
        return ranked(pool.ids, pool.sums + otherwise, pool.sizes)


def _weights(options: Mapping[str, str], legs: Sequence[str]) -> Mapping[str, float]:
    alpha: float | None = ALPHA.read(options)
    if alpha is None:
        return weights_of(WEIGHTS.read(options), legs)
    if len(legs) != 2:
        raise UsageError(
            f"`alpha` is for two legs, and there are {len(legs)}",
            expected="`weights`, one for each",
            found=f"{alpha:g}",
        )
    return weights_of((alpha, 1 - alpha), legs)
