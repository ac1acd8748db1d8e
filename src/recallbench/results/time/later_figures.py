"""What sessions dated after the question are worth, from the rankings of a result."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from recallbench.corpora.records import Question
from recallbench.results.metrics import COMPARED
from recallbench.results.time.later_part import LaterFigurePart, LaterPart
from recallbench.retrieval.ranking import Ranking
from recallbench.retrieval.record import Retrieval
from recallbench.scoring.calls import judge_rankings
from recallbench.scoring.judgement import Bools, Judged
from recallbench.scoring.measures.measure import Measure
from recallbench.scoring.measures.registry import parse


def later_part(retrieval: Retrieval) -> LaterPart | None:
    """Return the figures both ways; None where no session is dated after its question."""
    questions = retrieval.questions
    these = np.array([bool(question.later) for question in questions], dtype=np.bool_)
    if not these.any():
        return None
    depth = retrieval.calls.depth
    # Of the deep call alone: in one of ten hits nothing could move up.
    whole = judge_rankings(retrieval, retrieval.rankings, depth)
    held = without_later(retrieval)
    without = judge_rankings(held, held.rankings, depth)
    measures = [measure for measure in map(parse, COMPARED) if measure.k <= depth]
    return LaterPart(
        questions=int(these.sum()),
        segments=sum(len(question.later) for question in questions),
        gold=sum(len(question.later & question.gold) for question in questions),
        emptied=sum(bool(question.gold) and question.gold <= question.later for question in questions),
        of_these=_figures(measures, whole, without, these),
        of_all=_figures(measures, whole, without, np.ones(len(questions), dtype=np.bool_)),
    )


def without_later(retrieval: Retrieval) -> Retrieval:
    """Return the retrieval as if no session were dated after its question: what is left takes the places in turn."""
    moved = [_Moved(question) for question in retrieval.questions]
    return replace(
        retrieval,
        questions=[each.question() for each in moved],
        candidates=[size - len(each.later) for each, size in zip(moved, retrieval.candidates, strict=True)],
        rankings=[
            Ranking(ranking.question_id, tuple(each.places(ranking.positions)), ())
            for each, ranking in zip(moved, retrieval.rankings, strict=True)
        ],
    )


class _Moved:
    """The places of what is left of a haystack."""

    def __init__(self, question: Question) -> None:
        self._question, self.later = question, sorted(question.later)

    def places(self, positions: Iterable[int]) -> Iterator[int]:
        """Yield the new place of each position that is left."""
        for position in positions:
            before = bisect_left(self.later, position)
            if before == len(self.later) or self.later[before] != position:
                yield position - before

    def question(self) -> Question:
        """Return the question with the gold that is left."""
        grades = {place: grade for old, grade in self._question.grades.items() for place in self.places([old])}
        return replace(self._question, gold=frozenset(self.places(self._question.gold)), grades=grades)


def _figures(measures: Sequence[Measure], whole: Judged, without: Judged, chosen: Bools) -> list[LaterFigurePart]:
    figures = []
    for measure in measures:
        both = chosen & measure.counted(whole) & measure.counted(without)
        value, held = (
            float(measure.values(judged)[both].mean()) if both.any() else None for judged in (whole, without)
        )
        figures.append(LaterFigurePart(measure=str(measure), value=value, without=held, n=int(both.sum())))
    return figures
