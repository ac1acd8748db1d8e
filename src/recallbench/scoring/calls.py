"""The judgement of each call of a retrieval."""

from __future__ import annotations

from collections.abc import Sequence

from recallbench.corpora.records import Question
from recallbench.retrieval.ranking import Ranking
from recallbench.retrieval.record import Retrieval
from recallbench.scoring.judgement import Judged, judge


def judge_calls(retrieval: Retrieval) -> tuple[Judged, ...]:
    """Return the judgements of a retrieval's calls, shallowest first."""
    deep = judge_rankings(retrieval, retrieval.rankings, retrieval.calls.depth)
    if retrieval.short is None:
        return (deep,)
    return judge_rankings(retrieval, retrieval.short, retrieval.calls.k), deep


def judge_rankings(retrieval: Retrieval, rankings: Sequence[Ranking], depth: int) -> Judged:
    """Return the judgement of one ranking for each question of a retrieval."""
    return judge_positions(retrieval, [ranking.positions for ranking in rankings], depth)


def judge_positions(retrieval: Retrieval, positions: Sequence[Sequence[int]], depth: int) -> Judged:
    """Return the judgement of haystack positions, best first, for each question of a retrieval."""
    grades = [question.grades for question in retrieval.questions]
    return judge(
        positions,
        [question.gold for question in retrieval.questions],
        retrieval.candidates,
        depth,
        grades if any(grades) else None,
        [question.one_find for question in retrieval.questions],
    )


def clusters_of(questions: Sequence[Question]) -> tuple[str, ...] | None:
    """Return the cluster of each question; None where questions are independent."""
    clusters = tuple(question.cluster for question in questions)
    return clusters if any(clusters) else None
