"""Thresholds that a report must keep, and the one error that lists all it misses."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from recallbench.cases.case import NOTHING, count
from recallbench.cases.definitions import SHORT
from recallbench.cases.scores import CaseScores
from recallbench.cases.thresholds_latency import NAME, LatencyThreshold, latency_threshold
from recallbench.compare.rules import is_out_of_reach, keeps_floor, parse_rule
from recallbench.errors import RecallBenchError, UsageError
from recallbench.scoring.measures.measure import Measure
from recallbench.scoring.measures.registry import parse
from recallbench.scoring.recommended import RECOMMENDED, recommended


@dataclass(frozen=True, slots=True)
class Threshold:
    """A threshold and the observed value, kept or missed."""

    measure: str
    required: float
    observed: float
    ceiling: float
    """The value of an oracle on the same cases."""

    @property
    def holds(self) -> bool:
        return keeps_floor(self.observed, self.required)

    @property
    def out_of_reach(self) -> bool:
        """No ranking at all could keep it."""
        return is_out_of_reach(self.required, self.ceiling)

    def __str__(self) -> str:
        if math.isnan(self.observed):
            nothing = "no case has grades" if self.measure.endswith("(graded)") else NOTHING
            return f"{self.measure}: {nothing}; {self.required:g} required"
        text = (
            f"{self.measure} is {self.observed:.4f}, {self.required:g} required (an oracle reaches {self.ceiling:.4f}"
        )
        return f"{text}: out of reach on these cases)" if self.out_of_reach else f"{text})"


class BelowThreshold(RecallBenchError, AssertionError):
    """The failure of a test or pipeline: all thresholds that are missed."""

    exit_code = 1

    def __init__(
        self,
        problem: str,
        shortfalls: Sequence[Threshold | LatencyThreshold],
        remedy: str,
        held: Sequence[Threshold | LatencyThreshold],
    ) -> None:
        super().__init__(problem, remedy=remedy)
        self.shortfalls = tuple(shortfalls)
        self.held = tuple(held)
        """The thresholds that were kept."""
        self.verbose = False
        """Whether they are printed too."""

    def __str__(self) -> str:
        lines = [self.problem, *(f"  {shortfall}" for shortfall in self.shortfalls)]
        lines += [f"  holds: {threshold}" for threshold in self.held if self.verbose]
        return "\n".join([*lines, f"  what to do: {self.remedy}"] if self.remedy else lines)


def check(
    report: CaseScores, thresholds: Mapping[str, float] | str, short: Mapping[str, float], *, verbose: bool = False
) -> None:
    """Raise BelowThreshold unless each measure reaches its threshold; figures are compared unrounded.

    `short` goes before the same measure in `thresholds`. With `verbose`, print those that held.
    """
    required, own = _required(report, thresholds), _required(report, short)
    if isinstance(thresholds, str):
        # Whoever asks for a precision of another kind does not want the recommended one as well.
        named = {measure.name for measure in own if not isinstance(measure, str)}
        required = {key: floor for key, floor in required.items() if isinstance(key, str) or key.name not in named}
    required |= own
    if not required:
        raise UsageError("nothing to check", expected="a threshold, as check(recall=0.7)", found="none")
    results = [
        latency_threshold(report, measure, figure)
        if isinstance(measure, str)
        else Threshold(str(measure), figure, report.value(measure), report.ceiling(measure))
        for measure, figure in required.items()
    ]
    met = [result for result in results if result.holds]
    missed = [result for result in results if not result.holds]
    over = f"over {count(report.n)} (matching: {report.matching})"
    if not missed:
        if verbose:
            every = "the one threshold holds" if len(results) == 1 else f"all {len(results)} thresholds hold"
            print("\n".join([f"{every} {over}", *(f"  {result}" for result in met)]))
        return
    remedies = []
    if any(result.out_of_reach for result in missed):
        relevant = [len(case.relevant) or 1 for case in report.cases if case.relevant or case.expected is not None]
        mean = sum(relevant) / len(relevant) if relevant else math.nan
        over_k = any(
            result.out_of_reach and "precision" in result.measure and "(" not in result.measure for result in missed
        )
        remedies.append(
            f"what no ranking can reach must be asked at another k, or lower: a case has {mean:.3g} relevant items on "
            f"average{f', and precision divides by k = {report.k}' if over_k else ''}"
        )
    failed = len(report.failures)
    if failed:
        remedies.append(f"{failed} case{'s' if failed > 1 else ''} failed and count as empty rankings")
    if not report.n:
        remedies.append("check cases that have something to find; report.abstention tells how well the others abstain")
    doubtful = sum(isinstance(result, LatencyThreshold) and bool(result.doubt) for result in missed)
    inconclusive = f"{doubtful} of {len(results)} thresholds inconclusive" if doubtful else ""
    fallen = f"{len(missed) - doubtful} of {len(results)} thresholds missed" if len(missed) > doubtful else ""
    error = BelowThreshold(
        f"{', '.join(filter(None, (fallen, inconclusive)))} {over}", missed, "; ".join(remedies), met
    )
    error.verbose = verbose
    raise error


def _required(report: CaseScores, thresholds: Mapping[str, float] | str) -> dict[Measure | str, float]:
    """Return the floor of each measure, and the limit of each percentile by its name."""
    if isinstance(thresholds, str):
        if NAME.match(thresholds):
            raise UsageError("the limit of a percentile is a keyword", expected="check(p95_ms=5)", found=thresholds)
        if thresholds == RECOMMENDED:
            return dict(recommended(report.k).items())
        if not re.search(r"[\s<>]", thresholds):
            raise UsageError(
                "no thresholds of that name",
                expected=f'"{RECOMMENDED}", a rule as "recall >= 0.7", or {{measure: figure}}',
                found=repr(thresholds),
            )
        rule = parse_rule(thresholds, lambda name: _measure(report, name))
        if rule.word == "drops":
            raise UsageError("a drop needs a baseline", expected="a floor, as recall >= 0.7", found=thresholds)
        return {rule.measure: rule.threshold}
    floors: dict[Measure | str, float] = {}
    for name, required in thresholds.items():
        if NAME.fullmatch(name):
            floors[name] = required
            continue
        measure = _measure(report, name)
        if isinstance(required, bool) or not isinstance(required, (int, float)) or not 0 <= required <= 1:
            raise UsageError(f"a threshold for {name}", expected="a number from 0 to 1", found=repr(required))
        floors[measure] = float(required)
    return floors


def _measure(report: CaseScores, name: str) -> Measure:
    if name in SHORT:
        return report.short(name)
    if "@" in name:
        return parse(name)
    raise UsageError(
        f"unknown threshold {name!r}",
        expected=f"{', '.join(SHORT)}, p95_ms, or an exact name as recall_any@{report.k}",
        found=name,
    )
