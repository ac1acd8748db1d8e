"""Maximal marginal relevance: what is much like something that stands above it comes later."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt

from recallbench.retrieval.stages.candidates import Candidates, Ids, Scores
from recallbench.retrieval.stages.normalisation import minmax
from recallbench.retrieval.stages.placement import above_rest
from recallbench.retrieval.stages.similarity import Similarity
from recallbench.retrieval.stages.stage import CandidateStage, Kind, QuestionBatch, StageOption, StageRequest, positive
from recallbench.retrieval.stages.weighted import read_share

LAMBDA = StageOption("lambda", "The share of relevance: 1 is relevance alone, 0 diversity alone", "0.5", (), read_share)
RELEVANCE = StageOption(
    "relevance",
    "What counts as relevance: the score it was handed, or the cosine to the question",
    "score",
    ("score", "cosine"),
)
TOP = StageOption("top", "How many candidates it looks at; all where it is left out", parse=positive)
LEAST = -1.0
"""The similarity to what was chosen before as long as nothing was: the least that a cosine can be."""


class MmrStage(CandidateStage):
    """Chooses one candidate after the other by lambda x relevance - (1 - lambda) x likeness to the chosen.

    Likeness is the highest cosine to one that was chosen before. Relevance is the score that a candidate was handed
    with, from 0 to 1, so that a fusion or a reranker before it counts. As Carbonell and Goldstein (1998) have it, it is
    the similarity by which was searched: `relevance = "cosine"` takes the cosine to the question.

    The first is always the most relevant. Ties go by id. Cosines are rounded to nine places, so that a question gets
    one answer alone and among others.
    """

    kind: ClassVar[Kind] = "diversify"
    method: ClassVar[str] = "mmr"
    summary: ClassVar[str] = "maximal marginal relevance"
    options: ClassVar[tuple[StageOption, ...]] = (LAMBDA, RELEVANCE, TOP)
    needs_vectors: ClassVar[bool] = True

    @classmethod
    def open(cls, request: StageRequest) -> Self:
        values = request.options
        return cls(LAMBDA.read(values), by_score=RELEVANCE.read(values) == "score", top=TOP.read(values))

    @classmethod
    def most_looked_at(cls, options: Mapping[str, str], given: int) -> int:
        return min(given, TOP.read(options) or given)

    def __init__(self, share: float, *, by_score: bool = False, top: int | None = None) -> None:
        self._share, self._by_score, self._top = share, by_score, top

    def apply(self, batch: QuestionBatch, candidates: Candidates) -> Candidates:
        head = candidates if self._top is None else candidates.first(self._top)
        if not head.sizes.any():
            return candidates
        head = _by_id(head)
        similarity = Similarity(batch, head)
        relevance = minmax(head) if self._by_score else similarity.to_questions()
        order, scores = _choose(relevance, similarity.to_each_other(), head.present, self._share)
        chosen = Candidates(np.take_along_axis(head.ids, order, 1), scores, head.sizes)
        return above_rest(chosen, candidates)


def _choose(relevance: Scores, likeness: Scores, present: npt.NDArray[np.bool_], share: float) -> tuple[Ids, Scores]:
    """Return the places of candidates in the order in which they are chosen, and the value of each choice.

    Values descend, since likeness to the chosen only grows.
    """
    rows, width = np.arange(len(relevance)), relevance.shape[1]
    order = np.zeros(relevance.shape, np.int64)
    scores = np.empty(relevance.shape)
    gain = np.where(present, share * relevance, -np.inf)
    value = gain - (1 - share) * LEAST
    pick = np.where(present, relevance, -np.inf).argmax(1)
    for step in range(width):
        order[:, step], scores[:, step] = pick, value[rows, pick]
        gain[rows, pick] = -np.inf
        # Less the likeness to the one chosen now, where that is the highest so far.
        np.minimum(value, gain - (1 - share) * likeness[rows, pick], out=value)
        pick = value.argmax(1)
    return order, scores


def _by_id(candidates: Candidates) -> Candidates:
    """Return the candidates with ids that ascend: the first of equals is then the one with the lowest."""
    order = np.argsort(np.where(candidates.present, candidates.ids, np.iinfo(np.int64).max), axis=1, kind="stable")
    return Candidates(
        np.take_along_axis(candidates.ids, order, 1), np.take_along_axis(candidates.scores, order, 1), candidates.sizes
    )
