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

Sliced = dict[str, dict[str, EstimatePart]]


def sliced_estimates(
    outcome: PointOutcome, questions: SweepQuestions, places: Sequence[int]
) -> tuple[EstimatePart | None, Sliced]:
    """Return the estimate of a point, and those by slice, under `kind`, `tenant` and `ability`.

    A division into fewer than two slices is left out, and everything for a point that was not asked every question.
    """
    if not places or not outcome.has(questions, places):
        return None, {}
    asked, judged = questions.at(places), outcome.judged(questions, places)
    kinds = kind_slices(asked, questions.survey)
    everything = {OVERALL: kinds.pop(OVERALL)}
    divisions: dict[str, Mapping[str, Bools]] = {
        "kind": kinds,
        "tenant": tenant_slices(asked),
        "ability": ability_slices(asked, outcome.point.plan.corpus.name),
    }
    measures, clusters = [outcome.point.measure], clusters_of(asked)

    def parts(slices: Mapping[str, Bools]) -> dict[str, EstimatePart]:
        found = estimates(measures, judged, clusters, slices)
        return {name: rounded(estimate_part(estimate)) for name, (estimate,) in found.items()}

    sliced = {what: parts(slices) for what, slices in divisions.items() if len(slices) > 1}
    return parts(everything)[OVERALL], sliced
