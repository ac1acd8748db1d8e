"""Gates of a sweep that no point could ever keep: said before anything runs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from recallbench.compare.rules import Requirement, is_out_of_reach
from recallbench.corpora.records import Question
from recallbench.errors import UsageError
from recallbench.results.sweep.document import BASELINE
from recallbench.scoring.judgement import Judged, judge
from recallbench.scoring.measures.measure import Measure
from recallbench.studies.sweep.points import SweepPoint
from recallbench.studies.sweep.questions import SweepQuestions


def check_requirements(requirements: Sequence[Requirement], points: Sequence[SweepPoint], depth: int) -> None:
    """Raise UsageError for a gate without the baseline that it needs, or deeper than the rankings."""
    for requirement in requirements:
        if requirement.bound is None and not any(point.name == BASELINE for point in points):
            raise UsageError(
                f"the gate '{requirement}' has no baseline to compare with",
                expected="a table [baseline] in the sweep's file, empty for the system as it is",
                found="none",
            )
        if requirement.measure is not None and requirement.measure.k > depth:
            raise UsageError(
                f"the gate '{requirement}' is deeper than the rankings",
                expected=f"a measure at {depth} or less",
                found=requirement.name,
                remedy=f"ask for deeper rankings: --depth {requirement.measure.k}",
            )


def refuse_out_of_reach(
    requirements: Sequence[Requirement], points: Sequence[SweepPoint], questions: SweepQuestions, tuning: Sequence[int]
) -> None:
    """Raise UsageError for a gate that not even an oracle would keep, with as many hits as a point hands on."""
    asked = questions.at(tuning)
    most = max(point.measure.k for point in points if point.name != BASELINE)
    for requirement in requirements:
        measure, bound = requirement.measure, requirement.bound
        if measure is None or bound is None or not asked:
            continue
        ceiling = _ceiling(measure, most, asked, [questions.sizes[question.scope] for question in asked])
        if is_out_of_reach(bound, ceiling):
            raise UsageError(
                f"no point can keep the gate '{requirement}'",
                expected=f"at most {ceiling:.4f}, what the best possible rankings reach here"
                + (f" with {most} hits" if most < measure.k else ""),
                found=f"{bound:g}",
                remedy="lower it",
            )


def _ceiling(measure: Measure, k: int, asked: Sequence[Question], sizes: Sequence[int]) -> float:
    """Return what the best possible rankings reach, of which the first k hits are handed on."""
    grades = [question.grades for question in asked]

    def judged(rankings: Sequence[Sequence[int]]) -> Judged:
        return judge(
            rankings,
            [question.gold for question in asked],
            sizes,
            measure.k,
            grades if any(grades) else None,
            [question.one_find for question in asked],
        )

    whole = measure.ceiling(judged([()] * len(asked)))
    if k >= measure.k:
        return float(whole.mean())
    best = [_best(question) for question in asked]
    # Filled up with others too: some measures count what came back.
    full = [
        list(dict.fromkeys([*hits, *range(min(size, k + len(hits)))])) for hits, size in zip(best, sizes, strict=True)
    ]
    reached = [measure.values(judged([hits[:k] for hits in each])) for each in (best, full)]
    return float(np.minimum(whole, np.maximum(*reached)).mean())


def _best(question: Question) -> list[int]:
    """Return its gold segments, those of the highest grade first, and then what else has a grade."""
    known = {**dict.fromkeys(question.gold, 1.0), **question.grades}
    return sorted(known, key=lambda position: (position not in question.gold, -known[position], position))
