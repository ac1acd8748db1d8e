"""Gates of a sweep that no point could ever keep: said before anything runs."""

from __future__ import annotations

from collections.abc import Sequence

from recallbench.compare.rules import Requirement, is_out_of_reach
from recallbench.errors import UsageError
from recallbench.results.sweep.document import BASELINE
from recallbench.scoring.judgement import judge
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


def refuse_out_of_reach(requirements: Sequence[Requirement], questions: SweepQuestions, tuning: Sequence[int]) -> None:
    """Raise UsageError for a gate that not even an oracle would keep."""
    asked = questions.at(tuning)
    for requirement in requirements:
        measure, bound = requirement.measure, requirement.bound
        if measure is None or bound is None or not asked:
            continue
        grades = [question.grades for question in asked]
        judged = judge(
            [()] * len(asked),
            [question.gold for question in asked],
            [questions.sizes[question.scope] for question in asked],
            measure.k,
            grades if any(grades) else None,
            [question.one_find for question in asked],
        )
        ceiling = float(measure.ceiling(judged).mean())
        if is_out_of_reach(bound, ceiling):
            raise UsageError(
                f"no point can keep the gate '{requirement}'",
                expected=f"at most {ceiling:.4f}, what the best possible rankings reach here",
                found=f"{bound:g}",
                remedy="lower it",
            )
