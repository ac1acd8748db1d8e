"""Limits on a percentile of the calls' milliseconds, such as p95_ms=5."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from recallbench.cases.scores import CaseScores
from recallbench.errors import UsageError
from recallbench.scoring.intervals import LEVEL, Interval
from recallbench.scoring.quantiles import EACH_BOUND, fewest_for_bound, quantile, quantile_interval

NAME = re.compile(r"p([1-9]\d?)_ms")


@dataclass(frozen=True, slots=True)
class LatencyThreshold:
    """The most that a percentile may be, and what the calls of a report say of it."""

    measure: str
    """Its name, as p95_ms."""
    required: float
    observed: float
    """The percentile of the calls that were answered; nan where none was timed."""
    bounds: Interval
    """Order statistics, each of which bounds the percentile with 95%; None where the calls are too few."""
    n: int
    """Calls, with those that failed."""
    doubt: str
    """Why these calls can't tell whether it holds; empty where they can."""

    @property
    def holds(self) -> bool:
        return not self.doubt and self.observed <= self.required

    @property
    def out_of_reach(self) -> bool:
        """Any time can be reached."""
        return False

    def __str__(self) -> str:
        if math.isnan(self.observed):
            return f"{self.measure}: inconclusive, {self.doubt}; at most {self.required:g} required"
        low, high = ("–" if bound is None else f"{bound:.3g}" for bound in (self.bounds.low, self.bounds.high))
        seen = f"{self.measure} is {self.observed:.3g} of {self.n} call{'s' if self.n > 1 else ''}"
        bounds = "" if self.doubt else f" (bounds of {LEVEL:.0%} each: {low} and {high})"
        doubt = f": inconclusive, {self.doubt}" if self.doubt else ""
        return f"{seen}{bounds}, at most {self.required:g} required{doubt}"


def latency_threshold(report: CaseScores, name: str, limit: float) -> LatencyThreshold:
    """Return the limit with what was measured; raises UsageError for a limit that is no time.

    The percentile decides, where there are calls enough for its upper bound: 59 for p95, 299 for p99. Of a case that
    failed no time is known, so the percentile must hold with it as the slowest.
    """
    if isinstance(limit, bool) or not isinstance(limit, (int, float)) or not 0 < limit < math.inf:
        raise UsageError(f"a limit for {name}", expected="milliseconds, above 0", found=repr(limit))
    match = NAME.fullmatch(name)
    assert match is not None
    share, times, failed = int(match[1]) / 100, report.latencies, len(report.failures)
    every = [*times, *[math.inf] * failed]
    rule = report.definitions.percentiles
    observed, most = quantile(times, share, rule), quantile(every, share, rule)
    fewest, doubt = fewest_for_bound(share), ""
    if observed is None or most is None:
        doubt = "no call was timed"
    elif len(every) < fewest:
        doubt = f"its upper bound takes {fewest} calls"
    elif observed <= limit < most:
        doubt = f"{failed} case{'s' if failed > 1 else ''} failed, and how long an answer would have taken is not known"
    bounds = quantile_interval(every, share, EACH_BOUND)
    return LatencyThreshold(name, float(limit), math.nan if observed is None else observed, bounds, len(every), doubt)
