"""Thresholds that a report must keep, and the one error that lists all it misses."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from recallbench.errors import RecallBenchError, UsageError
from recallbench.evaluation.case import NOTHING, count
from recallbench.scoring.measures.f1 import F1
from recallbench.scoring.measures.f1_of_means import F1OfMeans
from recallbench.scoring.measures.measure import Measure
from recallbench.scoring.measures.mrr import Mrr
from recallbench.scoring.measures.ndcg import Ndcg
from recallbench.scoring.measures.precision import Precision
from recallbench.scoring.measures.recall_frac import RecallFrac
from recallbench.scoring.measures.registry import parse

if TYPE_CHECKING:
    from recallbench.evaluation.report import Report

SHORT: Mapping[str, type[Measure]] = {
    "recall": RecallFrac,
    "precision": Precision,
    "f1": F1,
    "f1_of_means": F1OfMeans,
    "ndcg": Ndcg,
    "mrr": Mrr,
}
"""What the short names stand for, at the report's own k."""


@dataclass(frozen=True, slots=True)
class Shortfall:
    """One threshold that is missed."""

    measure: str
    required: float
    observed: float
    ceiling: float
    """What an oracle reaches on the same cases."""

    @property
    def out_of_reach(self) -> bool:
        """No ranking at all could keep it."""
        return self.required > self.ceiling

    def __str__(self) -> str:
        if math.isnan(self.observed):
            return f"{self.measure}: {NOTHING}; {self.required:g} required"
        said = (
            f"{self.measure} is {self.observed:.4f}, {self.required:g} required (an oracle reaches {self.ceiling:.4f}"
        )
        return f"{said}: out of reach on these cases)" if self.out_of_reach else f"{said})"


class BelowThreshold(RecallBenchError, AssertionError):
    """Thresholds that are missed, all of them; what a test or a pipeline fails with."""

    exit_code = 1

    def __init__(self, problem: str, shortfalls: Sequence[Shortfall], remedy: str) -> None:
        super().__init__(problem, remedy=remedy)
        self.shortfalls = tuple(shortfalls)

    def __str__(self) -> str:
        lines = [self.problem, *(f"  {one}" for one in self.shortfalls)]
        return "\n".join([*lines, f"  what to do: {self.remedy}"] if self.remedy else lines)


def check(report: Report, thresholds: Mapping[str, float]) -> None:
    """Raise BelowThreshold unless each measure is at least what is asked of it; the comparison is of whole figures."""
    if not thresholds:
        raise UsageError("nothing to check", expected="a threshold, as check(recall=0.7)", found="none")
    missed = []
    for name, required in thresholds.items():
        measure = _measure(report, name)
        if isinstance(required, bool) or not isinstance(required, (int, float)) or not 0 <= required <= 1:
            raise UsageError(f"a threshold for {name}", expected="a number from 0 to 1", found=repr(required))
        observed, ceiling = report.value(measure), report.ceiling(measure)
        # A mean over many cases may end a rounding below the figure that it is.
        if not observed >= required - 1e-12:
            missed.append(Shortfall(str(measure), float(required), observed, ceiling))
    if not missed:
        return
    remedies = []
    if any(one.out_of_reach for one in missed):
        relevant = [len(case.relevant) or 1 for case in report.cases if case.relevant or case.expected is not None]
        mean = sum(relevant) / len(relevant) if relevant else math.nan
        remedies.append(
            f"what no ranking can reach must be asked at another k, or lower: a case has {mean:.3g} relevant items on "
            f"average, and precision divides by k = {report.k}"
        )
    failed = len(report.failures)
    if failed:
        remedies.append(f"{failed} case{'s' if failed > 1 else ''} failed and count as empty rankings")
    if not report.n:
        remedies.append("check cases that have something to find; report.abstention tells how well the others abstain")
    raise BelowThreshold(
        f"{len(missed)} of {len(thresholds)} thresholds missed over {count(report.n)} (matching: {report.matching})",
        missed,
        "; ".join(remedies),
    )


def _measure(report: Report, name: str) -> Measure:
    kind = SHORT.get(name)
    if kind is not None:
        return kind(report.k)
    if "@" in name:
        return parse(name)
    raise UsageError(
        f"unknown threshold {name!r}",
        expected=f"{', '.join(SHORT)}, or an exact name as recall_any@{report.k}",
        found=name,
    )
