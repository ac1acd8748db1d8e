"""The gates of the chosen point on the questions held out: by those to choose by, luck may have kept them."""

from __future__ import annotations

from collections.abc import Sequence

from recallbench.compare.rules import USD_PER_1000, Requirement, keeps_floor
from recallbench.results.figures import rounded
from recallbench.results.sweep.document import GateOutcome, HeldOutGatePart
from recallbench.scoring.estimate import estimate
from recallbench.scoring.intervals import Interval
from recallbench.scoring.measures.measure import Measure
from recallbench.scoring.paired import paired
from recallbench.scoring.quantiles import quantile, quantile_interval
from recallbench.studies.sweep.choosing import SHARES, SweepCandidates
from recallbench.studies.sweep.measuring import PointOutcome

_NO_BASELINE = "n/a (the baseline was not asked them)"
_OF_ALL = "n/a (the cost is that of all questions)"
_OF_TWO = "n/a (two percentiles are compared)"


def held_out_gates(
    candidates: SweepCandidates, requirements: Sequence[Requirement], name: str | None
) -> list[HeldOutGatePart]:
    """Return whether the point of that name keeps each requirement; none where nothing is chosen or held out."""
    chosen = next((outcome for outcome in candidates.outcomes if outcome.point.name == name), None)
    places, questions = candidates.held_out, candidates.questions
    if chosen is None or not places or not chosen.has(questions, places):
        return []
    return [rounded(_gate(candidates, requirement, chosen)) for requirement in requirements]


def _gate(candidates: SweepCandidates, requirement: Requirement, chosen: PointOutcome) -> HeldOutGatePart:
    before = candidates.baseline if requirement.bound is None else None
    value, limit = _value(candidates, requirement, chosen), requirement.bound
    if before is not None:
        limit = _value(candidates, requirement, before)
    interval, zero = _interval(candidates, requirement, chosen, before), 0.0 if before is not None else limit
    kept = None if value is None or limit is None else requirement.keeps(value, limit)
    outcome: GateOutcome = "inconclusive"
    if value is not None and zero is not None and interval is not None:
        outcome = _outcome(requirement, interval, zero)
    return HeldOutGatePart(
        gate=str(requirement),
        tuning=candidates.amount(chosen, requirement),
        value=value,
        limit=limit,
        kept=kept,
        of_difference=before is not None and requirement.measure is not None,
        low=None if interval is None else interval.low,
        high=None if interval is None else interval.high,
        method=_NO_BASELINE if interval is None else interval.method,
        outcome=outcome,
    )


def _value(candidates: SweepCandidates, requirement: Requirement, outcome: PointOutcome) -> float | None:
    """Return what a requirement is about, over the questions held out."""
    places = candidates.held_out
    if not outcome.has(candidates.questions, places):
        return None
    if requirement.measure is not None:
        judged = outcome.handed_on(candidates.questions, places, requirement.measure)
        return float(requirement.measure.values(judged).mean())
    if requirement.name == USD_PER_1000:
        return candidates.costs.get(outcome.point.name)
    return quantile(_times(candidates, outcome), SHARES[requirement.name])


def _interval(
    candidates: SweepCandidates, requirement: Requirement, chosen: PointOutcome, before: PointOutcome | None
) -> Interval | None:
    """Return the interval of the value, or of its paired difference from the baseline."""
    questions, places, measure = candidates.questions, candidates.held_out, requirement.measure
    if measure is None:
        if requirement.name == USD_PER_1000:
            return Interval(None, None, _OF_ALL)
        if before is not None:
            return Interval(None, None, _OF_TWO)
        return quantile_interval(_times(candidates, chosen), SHARES[requirement.name])
    after = chosen.handed_on(questions, places, measure)
    if before is None:
        found = estimate(measure, after, candidates.clusters(places))
        return Interval(found.low, found.high, found.method)
    return _difference(candidates, measure, before, chosen)


def _difference(
    candidates: SweepCandidates, measure: Measure, before: PointOutcome, chosen: PointOutcome
) -> Interval | None:
    questions, places = candidates.questions, candidates.held_out
    if not before.has(questions, places):
        return None
    first, second = (measure.values(each.handed_on(questions, places, measure)) for each in (before, chosen))
    found = paired(first, second, candidates.clusters(places))
    if not found.wins and not found.losses:
        return Interval(0.0, 0.0, "no question's value differs")
    return Interval(found.low, found.high, found.method)


def _outcome(requirement: Requirement, interval: Interval, limit: float) -> GateOutcome:
    """Return whether all of an interval keeps the limit, or nothing of it does."""
    low, high = interval.low, interval.high
    if requirement.measure is not None:
        if low is not None and keeps_floor(low, limit):
            return "passes"
        return "fails" if high is not None and not keeps_floor(high, limit) else "inconclusive"
    if high is not None and requirement.keeps(high, limit):
        return "passes"
    return "fails" if low is not None and not requirement.keeps(low, limit) else "inconclusive"


def _times(candidates: SweepCandidates, outcome: PointOutcome) -> list[float]:
    """Return the single searches of the questions held out that were timed."""
    if outcome.answers is None:
        return []
    held_out = {question.id for question in candidates.questions.at(candidates.held_out)}
    return [time for id, time in outcome.answers.milliseconds.items() if id in held_out]
