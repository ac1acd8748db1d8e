"""What the answers of a level were worth: of the very calls that were timed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from recallbench.results.load.levels import AnswerQualityPart, LevelRowsPart
from recallbench.retrieval.load.call import LoadCall
from recallbench.retrieval.ranking import rank_hits
from recallbench.retrieval.request import Request
from recallbench.scoring.estimate import estimates
from recallbench.scoring.judgement import Judged, judge
from recallbench.scoring.measures.mrr import Mrr
from recallbench.scoring.measures.registry import parse
from recallbench.scoring.returned import returned_rows

FIRST = "recall_any@10"


@dataclass(frozen=True, slots=True)
class AnswerWorth:
    """What the answers of a level were worth."""

    quality: list[AnswerQualityPart]
    rows: LevelRowsPart | None
    """Of the calls that were answered; None where none was."""


def answer_worth(calls: Sequence[LoadCall], requests: Sequence[Request], depth: int, store: str) -> AnswerWorth:
    """Return recall, MRR and rows over the calls of a level; for the measures a failed call is the worst answer.

    Raises InputError where a store broke its contract in one. Answers to one question are dependent, so where the
    corpus has no clusters each question is one.
    """
    if not calls:
        return AnswerWorth([], None)
    # A question is answered alike most times: each different answer is ranked once.
    ranked: dict[tuple[int, int], tuple[int, ...]] = {}
    positions = []
    for call in calls:
        key = (call.question, id(call.hits))
        if key not in ranked:
            request = requests[call.question]
            question, scope, hits = request.question.id, request.scope, call.hits or ()
            ranking = rank_hits(question, hits, scope.first_id, scope.size, depth, store, request.candidates)
            ranked[key] = ranking.positions
        positions.append(ranked[key])
    questions = [requests[call.question].question for call in calls]
    judged = judge(
        positions,
        [question.gold for question in questions],
        [requests[call.question].candidates for call in calls],
        depth,
        None,
        [question.one_find for question in questions],
    )
    everything = {"all": np.ones(len(calls), dtype=bool)}
    clusters = [question.cluster or question.id for question in questions]
    quality = [
        AnswerQualityPart(
            measure=str(found.measure),
            value=found.value,
            low=found.low,
            high=found.high,
            method=found.method,
            chance=found.chance,
            n=found.n,
        )
        for found in estimates([parse(FIRST), Mrr(min(50, depth))], judged, clusters, everything)["all"]
    ]
    return AnswerWorth(quality, _rows(judged.select([call.hits is not None for call in calls])))


def _rows(answered: Judged) -> LevelRowsPart | None:
    if not len(answered):
        return None
    (rows,) = returned_rows([answered], ["all"] * len(answered))
    return LevelRowsPart(
        asked=rows.asked, eligible=rows.eligible, returned=rows.returned, short_calls=rows.short_questions
    )
