"""What a point is worth: over all questions, those to tune by, and those held out, with each kind of the latter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from recallbench.results.figures import estimate_part, rounded
from recallbench.results.metrics import OVERALL, EstimatePart
from recallbench.results.question_slices import ability_slices, kind_slices, tenant_slices
from recallbench.scoring.calls import clusters_of
from recallbench.scoring.estimate import estimates
from recallbench.scoring.judgement import Bools
from recallbench.studies.sweep.choosing import SweepCandidates
from recallbench.studies.sweep.measuring import PointOutcome

Sliced = dict[str, dict[str, EstimatePart]]


@dataclass(frozen=True, slots=True)
class PointEstimates:
    """The estimates of a point; None over questions that are none, or that it was not asked all of."""

    everything: EstimatePart | None = None
    tuning: EstimatePart | None = None
    held_out: EstimatePart | None = None
    slices: Sliced = field(default_factory=dict)
    """Of the questions held out, under `kind`, `tenant` and `ability`."""


def point_estimates(outcome: PointOutcome, candidates: SweepCandidates) -> PointEstimates:
    """Return the estimates of a point, all from one judgement of what it was asked.

    A division into fewer than two slices is left out, and so is each for a point that was not asked all held out.
    """
    questions = candidates.questions
    places = outcome.asked(questions)
    if not places:
        return PointEstimates()
    judged, clusters = outcome.judged(questions, places), clusters_of(questions.at(places))
    rows = {place: row for row, place in enumerate(places)}

    def parts(slices: Mapping[str, Bools]) -> dict[str, EstimatePart]:
        found = estimates([outcome.point.measure], judged, clusters, slices)
        return {name: rounded(estimate_part(estimate)) for name, (estimate,) in found.items()}

    def mask(some: Sequence[int]) -> Bools:
        chosen = np.zeros(len(places), dtype=np.bool_)
        chosen[[rows[place] for place in some]] = True
        return chosen

    sets = {"": range(len(questions.asked)), "tuning": candidates.tuning, "held out": candidates.held_out}
    whole = parts({name: mask(some) for name, some in sets.items() if some and all(place in rows for place in some)})
    sliced: Sliced = {}
    if "held out" in whole:
        held_out = np.array(candidates.held_out)
        asked = questions.at(candidates.held_out)
        kinds = kind_slices(asked, questions.survey)
        del kinds[OVERALL]
        divisions: dict[str, Mapping[str, Bools]] = {
            "kind": kinds,
            "tenant": tenant_slices(asked),
            "ability": ability_slices(asked, outcome.point.plan.corpus.name),
        }
        for what, slices in divisions.items():
            if len(slices) > 1:
                sliced[what] = parts({name: mask(held_out[some].tolist()) for name, some in slices.items()})
    return PointEstimates(whole.get(""), whole.get("tuning"), whole.get("held out"), sliced)
