"""Thresholds that a result keeps, and that one which got worse would not: a bit below what was measured.

A floor is the lower end of the 95% interval, rounded down: other questions of the same sort would have given as little
one time in forty. It is left out where it could not fail (not above what a random ranking reaches), and for a kind
whose interval is so wide that a floor would let a tenth of the questions go. A drop is the least that so many questions
find four times in five, rounded up: a smaller one would stay undecided again and again, which `strict` fails.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from recallbench.compare.rules import ROUNDING
from recallbench.compare.thresholds_file import EVERY
from recallbench.errors import InputError
from recallbench.results.metrics import OVERALL, EstimatePart
from recallbench.results.rankings import Rankings
from recallbench.results.result import Result
from recallbench.scoring.intervals import cluster_codes
from recallbench.scoring.measures.measure import Measure
from recallbench.scoring.measures.registry import parse
from recallbench.scoring.planning.detectable import detectable_drop, differing_by_chance

STEP = 0.01
"""Floors and drops are whole hundredths."""
WIDE = 0.1
"""A kind whose floor would lie further below its value is left out."""


@dataclass(frozen=True, slots=True)
class Floor:
    """What a measure of all questions, or of one kind, must at least be."""

    kind: str
    """Empty for all questions."""
    estimate: EstimatePart
    at_least: float


@dataclass(frozen=True, slots=True)
class Detectable:
    """What drop of a measure the questions of a result can find."""

    measure: str
    level: float
    n: int
    clusters: int | None
    """None where questions are independent."""
    drop: float | None
    """The least that is found four times in five; None where they find none."""

    @property
    def threshold(self) -> float | None:
        """Return the drop that a file may name; None where there is none that could happen."""
        if self.drop is None:
            return None
        rounded = round(math.ceil(self.drop / STEP - ROUNDING) * STEP, 2)
        return rounded if rounded < self.level else None

    @property
    def questions(self) -> str:
        """Return how many questions there are."""
        of = "" if self.clusters is None else f" in {self.clusters} clusters"
        return f"{self.n} question{'' if self.n == 1 else 's'}{of}"

    @property
    def words(self) -> str:
        """Return what drop so many questions can find."""
        if self.drop is None or self.threshold is None:
            return f"{self.questions} can't tell any drop of {self.measure} from chance"
        return f"{self.questions} find a drop of {self.measure} of {self.drop:.4f} or more four times in five"


@dataclass(frozen=True, slots=True)
class Fitted:
    """The thresholds that fit a result."""

    floors: tuple[Floor, ...]
    detectable: Detectable
    left_out: tuple[str, ...]
    """Why a measure or a kind has no floor, a line each."""


def fit(result: Result) -> Fitted:
    """Return the thresholds that fit a result; raises InputError where so few questions hold up none."""
    rankings, depth = result.rankings, result.metrics.retrieval.depth
    measures = [parse(f"{name}@{min(most, depth)}") for name, most in (("recall_any", 10), ("mrr", 50), ("ndcg", 10))]
    overall = rankings.estimates(measures)
    if not overall[0].n:
        raise InputError(
            f"{result.folder} holds no threshold: no question has gold",
            expected="questions with gold",
            found="none",
            remedy="measure with a set that has gold",
        )
    floors: list[Floor] = []
    left_out: list[str] = []
    for kind, estimate in [("", estimate) for estimate in overall] + _by_kind(rankings, measures[0]):
        if reason := _why_not(kind, estimate):
            left_out.append(f"{kind or OVERALL}: {estimate.measure}: {reason}")
        else:
            floors.append(Floor(kind, estimate, _below(estimate)))
    if not any(not floor.kind for floor in floors):
        raise InputError(
            f"{result.folder} holds no threshold: so few questions can't tell it from chance",
            expected="a 95% interval above what a random ranking reaches",
            found="; ".join(left_out),
            remedy="measure with more questions, then: recallbench gate --init DIR",
        )
    return Fitted(tuple(floors), _detectable(rankings, overall[0]), tuple(left_out))


def _by_kind(rankings: Rankings, measure: Measure) -> list[tuple[str, EstimatePart]]:
    """Return the measure of each kind with gold, where there are several."""
    kinds = dict.fromkeys(
        kind
        for kind, answerable in zip(rankings.kinds, rankings.answerable, strict=True)
        if answerable and kind not in ("", EVERY)  # which a file could not name
    )
    if len(kinds) < 2:
        return []
    labels = np.array(rankings.kinds)
    return [(kind, rankings.estimates([measure], labels == kind)[0]) for kind in kinds]


def _below(estimate: EstimatePart) -> float:
    """Return the lower end of the interval in whole hundredths, and at least one of them below the value."""
    assert estimate.value is not None
    assert estimate.low is not None
    return max(0.0, round(math.floor(min(estimate.low, estimate.value - STEP) / STEP + ROUNDING) * STEP, 2))


def _why_not(kind: str, estimate: EstimatePart) -> str:
    """Return why a measure has no floor; empty where it has one."""
    if estimate.value is None or estimate.low is None:
        return f"no interval: {estimate.method}"
    floor = _below(estimate)
    if floor <= (estimate.chance or 0.0) + ROUNDING:
        return f"a floor of {floor:g} would say nothing: a random ranking reaches {estimate.chance or 0.0:.4f}"
    if kind and estimate.value - floor > WIDE:
        return f"{estimate.n} questions are too few: the floor would lie {estimate.value - floor:.2f} below"
    return ""


def _detectable(rankings: Rankings, estimate: EstimatePart) -> Detectable:
    assert estimate.value is not None
    answerable = rankings.answerable
    codes = cluster_codes([name for name, counted in zip(rankings.clusters, answerable, strict=True) if counted])
    sizes = None if codes is None else np.unique(codes, return_counts=True)[1].tolist()
    differing = differing_by_chance(estimate.value)
    drop = detectable_drop(estimate.n, estimate.value, differing, sizes, max(1.0, estimate.design_effect or 1.0))
    return Detectable(
        measure=estimate.measure,
        level=estimate.value,
        n=estimate.n,
        clusters=None if sizes is None else len(sizes),
        drop=None if math.isnan(drop) else drop,
    )
