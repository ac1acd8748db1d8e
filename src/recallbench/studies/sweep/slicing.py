"""What a point is worth for each kind of question, each tenant and each ability."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from recallbench.results.figures import estimate_part, rounded
from recallbench.results.metrics import OVERALL, EstimatePart
from recallbench.results.question_slices import ability_slices, kind_slices, tenant_slices
from recallbench.scoring.calls import clusters_of
from recallbench.scoring.estimate import estimates
from recallbench.scoring.judgement import Bools
from recallbench.studies.sweep.measuring import PointOutcome
from recallbench.studies.sweep.questions import SweepQuestions


def sliced_estimates(
    outcome: PointOutcome, questions: SweepQuestions, places: Sequence[int]
) -> dict[str, dict[str, EstimatePart]]:
    """Return the estimate of a point by slice, under `kind`, `tenant` and `ability`.

    A division into fewer than two slices is left out, and all of them for a point that was not asked every question.
    """
    if not places or not outcome.has(questions, places):
        return {}
    asked, judged = questions.at(places), outcome.judged(questions, places)
    divisions: dict[str, Mapping[str, Bools]] = {
        "kind": {name: mask for name, mask in kind_slices(asked, questions.survey).items() if name != OVERALL},
        "tenant": tenant_slices(asked),
        "ability": ability_slices(asked, outcome.point.plan.corpus.name),
    }
    measures, clusters = [outcome.point.measure], clusters_of(asked)
    return {
        what: {
            name: rounded(estimate_part(found))
            for name, (found,) in estimates(measures, judged, clusters, slices).items()
        }
        for what, slices in divisions.items()
        if len(slices) > 1
    }
