"""The choice among the points of a sweep: made by the tuning questions, and told by those held out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from recallbench.compare.rules import USD_PER_1000, Requirement
from recallbench.results.figures import rounded
from recallbench.results.sweep.document import P95, USD, ChoicePart, SweepKneePart
from recallbench.scoring.calls import clusters_of
from recallbench.scoring.choice.best_set import best_set, cheapest, raced_set
from recallbench.scoring.choice.front import front
from recallbench.scoring.choice.knee import WORTH, knee
from recallbench.scoring.choice.non_inferior import non_inferior
from recallbench.scoring.choice.race import Raced
from recallbench.scoring.judgement import Floats
from recallbench.scoring.paired import paired
from recallbench.scoring.quantiles import quantile
from recallbench.studies.sweep.measuring import PointOutcome
from recallbench.studies.sweep.parameters import K
from recallbench.studies.sweep.questions import SweepQuestions

NOTHING_MEASURED = "no point has figures"
SHARES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}


@dataclass(frozen=True, slots=True)
class SweepCandidates:
    """The points that a choice is made among, and all that it looks at."""

    outcomes: Sequence[PointOutcome]
    """Those that have an answer to every tuning question, without the baseline."""
    baseline: PointOutcome | None
    questions: SweepQuestions
    tuning: Sequence[int]
    """Places of the questions that count."""
    held_out: Sequence[int]
    costs: Mapping[str, float | None] = field(default_factory=dict)
    """Dollars for 1,000 questions, by point."""

    def clusters(self, places: Sequence[int]) -> tuple[str, ...] | None:
        """Return the cluster of each question; None where they are independent."""
        return clusters_of(self.questions.at(places))

    def amount(self, outcome: PointOutcome, requirement: Requirement) -> float | None:
        """Return the value of a point that a requirement is about: of a measure that of the hits it hands on."""
        if requirement.measure is not None:
            judged = outcome.handed_on(self.questions, self.tuning, requirement.measure)
            return float(requirement.measure.values(judged).mean())
        if requirement.name == USD_PER_1000:
            return self.costs.get(outcome.point.name)
        return latency(outcome, SHARES[requirement.name])

    def passing(self, requirements: Sequence[Requirement]) -> list[PointOutcome]:
        """Return the points that keep every requirement."""

        def keeps(outcome: PointOutcome, requirement: Requirement) -> bool:
            before = None if self.baseline is None else self.amount(self.baseline, requirement)
            return requirement.keeps(self.amount(outcome, requirement), before)

        return [outcome for outcome in self.outcomes if all(keeps(outcome, each) for each in requirements)]


@dataclass(frozen=True, slots=True)
class Chosen:
    """The choice, and what it says of each point."""

    part: ChoicePart
    passing: frozenset[str] = frozenset()
    front_shares: Mapping[str, float] = field(default_factory=dict)
    cost_shares: Mapping[str, float] = field(default_factory=dict)


def choose(
    candidates: SweepCandidates,
    requirements: Sequence[Requirement],
    margin: float,
    raced: tuple[Raced, Sequence[str]] | None,
) -> Chosen:
    """Choose among the points that keep the requirements; `raced` is the race with the names of its points.

    A race was run over all of them, so with requirements the set is worked out anew among those that keep them.
    """
    passing = candidates.passing(requirements)
    if not passing or not candidates.tuning:
        why = NOTHING_MEASURED if not candidates.outcomes else _none_passes(candidates, requirements)
        return Chosen(_nothing(margin, why))
    names = [outcome.point.name for outcome in passing]
    places = candidates.tuning
    values = np.stack([outcome.values(candidates.questions, places) for outcome in passing])
    clusters = candidates.clusters(places)
    costs = [candidates.costs.get(name) for name in names]
    times = [latency(outcome, SHARES["p95"]) for outcome in passing]
    if raced is not None and len(passing) == len(raced[0].alive):
        # The rows of those that were dropped are not read.
        rows = [names.index(name) if name in names else 0 for name in raced[1]]
        set_ = raced_set(raced[0], values[rows])
        members = [rows[point] for point in set_.points]
        thrifty = cheapest(members, costs)
    else:
        set_ = best_set(values, clusters, costs)
        members, thrifty = list(set_.points), set_.cheapest
    chosen = non_inferior(values, [float("inf") if time is None else time for time in times], margin, clusters)
    fronted, shares, prices = _front(passing, values, times, P95, clusters)
    cheap, cost_shares, _ = _front(passing, values, costs, USD, clusters)
    gain = _gain(candidates, passing[chosen.chosen])
    part = ChoicePart(
        chosen=names[chosen.chosen],
        shown=chosen.shown,
        margin=margin,
        best=names[chosen.best],
        set=[names[point] for point in members],
        set_words=set_.description,
        confidence=set_.confidence,
        cheapest=None if thrifty is None else names[thrifty],
        front=fronted,
        front_prices=prices,
        knee=_knee(passing, values, times, P95, clusters),
        cost_front=cheap,
        cost_knee=_knee(passing, values, costs, USD, clusters),
        gain=gain[0],
        gain_low=gain[1],
        gain_high=gain[2],
        methods=[f"set: {set_.method}", f"non-inferiority: {chosen.method}"],
        why_none="",
    )
    return Chosen(rounded(part), frozenset(names), shares, cost_shares)


def latency(outcome: PointOutcome, share: float) -> float | None:
    """Return a percentile of the single warm searches of a point; None where none was timed."""
    return None if outcome.answers is None else quantile(list(outcome.answers.milliseconds.values()), share)


def _front(
    passing: Sequence[PointOutcome],
    values: Floats,
    paid: Sequence[float | None],
    price: str,
    clusters: Sequence[str] | None,
) -> tuple[list[str], dict[str, float], list[str]]:
    """Return the points on the front over a price, the share of each, and the names of all prices."""
    timed = [place for place, each in enumerate(paid) if each is not None]
    if not timed:
        return [], {}, []
    prices, named = [[float(paid[place] or 0.0) for place in timed]], [price]
    # What is paid for more hits is in the cost, but not in the time.
    if price == P95 and len({outcome.point.measure.k for outcome in passing}) > 1:
        prices.append([float(passing[place].point.measure.k) for place in timed])
        named.append(K)
    found = front(values[timed], prices, clusters)
    names = [passing[place].point.name for place in timed]
    return [names[point] for point in found.points], dict(zip(names, found.shares, strict=True)), named


def _knee(
    passing: Sequence[PointOutcome],
    values: Floats,
    paid: Sequence[float | None],
    price: str,
    clusters: Sequence[str] | None,
) -> SweepKneePart | None:
    """Return the knee over a price; over k in place of the time, where points differ in nothing else."""
    over_k = price == P95 and len(passing) > 2 and all(set(outcome.point.parameters) == {K} for outcome in passing)
    priced = [float(outcome.point.measure.k) for outcome in passing] if over_k else list(paid)
    known = [place for place, each in enumerate(priced) if each is not None and each > 0]
    if len(known) < 3:
        return None
    found = knee(values[known], [float(priced[place] or 0.0) for place in known], clusters, worth=WORTH)
    return SweepKneePart(
        point=None if found.point is None else passing[known[found.point]].point.name,
        reason=found.reason,
        price=K if over_k else price,
        support=found.support,
        low=found.low,
        high=found.high,
        worth=found.worth,
    )


def _gain(candidates: SweepCandidates, chosen: PointOutcome) -> tuple[float | None, float | None, float | None]:
    """Return what the chosen point gains over the baseline on the held-out questions, with its interval."""
    before, questions, places = candidates.baseline, candidates.questions, candidates.held_out
    if before is None or not places or not (before.has(questions, places) and chosen.has(questions, places)):
        return None, None, None
    found = paired(before.values(questions, places), chosen.values(questions, places), candidates.clusters(places))
    return found.difference, found.low, found.high


def _none_passes(candidates: SweepCandidates, requirements: Sequence[Requirement]) -> str:
    """Return which gate turns away the most points, and how near the nearest comes."""
    if candidates.baseline is None and any(each.bound is None for each in requirements):
        return "the baseline has no figures, so nothing can be held to it"
    turned = {str(each): len(candidates.outcomes) - len(candidates.passing([each])) for each in requirements}
    if not turned:
        return "no question counts"
    hardest = max(turned, key=lambda gate: turned[gate])
    return f"no point keeps every gate; {hardest} turns away {turned[hardest]} of {len(candidates.outcomes)}"


def _nothing(margin: float, why: str) -> ChoicePart:
    return ChoicePart(
        chosen=None,
        shown=False,
        margin=margin,
        best=None,
        set=[],
        set_words="",
        confidence=0.0,
        cheapest=None,
        front=[],
        front_prices=[],
        knee=None,
        cost_front=[],
        cost_knee=None,
        gain=None,
        gain_low=None,
        gain_high=None,
        methods=[],
        why_none=why,
    )
