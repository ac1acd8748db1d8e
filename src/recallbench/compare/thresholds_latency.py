"""Thresholds on latency: the p95 of single queries, absolute and against the baseline's."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from recallbench.errors import InputError
from recallbench.reports.thresholds import GateThreshold, Outcome
from recallbench.results import latency
from recallbench.results.metrics import OVERALL
from recallbench.scoring.intervals import LEVEL
from recallbench.scoring.quantiles import NEAREST_RANK, Rule, quantile, quantile_interval

SHARE = 0.95
SMALL_SAMPLE = 20
"""With fewer queries, the p95 is the slowest one."""


def absolute(name: str, folder: Path, state: str, limit: float, *, rule: Rule) -> GateThreshold:
    """Return the threshold on the p95 of the queries in that state."""
    times = _times(name, folder, state, "p95_ms", rule)
    bounds = quantile_interval(times.least, SHARE)
    short, open_ = times.p95 > limit, times.most > limit
    outcome: Outcome = "falls short" if short else "cannot tell" if open_ else "holds"
    remark = f", of {len(times.least)} the slowest" if len(times.least) < SMALL_SAMPLE else ""
    return GateThreshold(
        result=name, part=OVERALL, what="p95_ms", measure=_named(state, rule),
        required=limit, observed=times.p95, low=bounds.low, high=None if times.failed else bounds.high, ceiling=None,
        n=len(times.least), outcome=outcome,
        by=times.p95 - limit if short else None, note=f"{_noisy(folder)}{remark}{times.failures_note}",
    )  # fmt: skip


def relative(name: str, folder: Path, baseline: Path, state: str, limit: float, *, rule: Rule) -> GateThreshold:
    """Return the threshold on the ratio of the p95 to the baseline's; times of other hardware can't be compared."""
    after, past = (_times(name, place, state, "p95_ratio", rule) for place in (folder, baseline))
    times, before_times, now, before = after.least, past.least, after.p95, past.p95
    # 95% for both intervals at once, so each has the square root of that.
    level = math.sqrt(LEVEL)
    new, old = quantile_interval(times, SHARE, level), quantile_interval(before_times, SHARE, level)
    observed, fewest = _ratio(now, before), min(len(times), len(before_times))
    note = (
        f"p95 {now:.3g} ms against {before:.3g} ms; {_noisy(folder)}{', few of them' if fewest < SMALL_SAMPLE else ''}"
    )
    short = observed is None or observed > limit
    outcome: Outcome = "falls short" if short else "holds"
    # Failed queries leave the p95 without an upper bound.
    if past.failed or (not short and (_ratio(after.most, before) or math.inf) > limit):
        outcome = "cannot tell"
    note = f"{note}{after.failures_note}{past.failures_note}"
    if other := latency.other_hardware(baseline, folder):
        outcome = "cannot tell"
        note = f"times of different machines say nothing: {other}"
    return GateThreshold.model_validate(
        {
            "result": name,
            "part": OVERALL,
            "what": "p95_ratio",
            "measure": f"{_named(state, rule)} / baseline",
            "required": limit,
            "observed": None if other else observed,
            "low": None if other else _ratio(new.low, old.high),
            "high": None if other or after.failed else _ratio(new.high, old.low),
            "ceiling": None,
            "n": len(times),
            "outcome": outcome,
            "by": observed - limit if outcome == "falls short" and observed else None,
            "note": note,
        }
    )


@dataclass(frozen=True, slots=True)
class _Times:
    """Times of single queries. A failed one counts as at least the time until it failed."""

    answered: tuple[float, ...]
    failed: tuple[float, ...]
    place: str
    rule: Rule

    @property
    def least(self) -> list[float]:
        return [*self.answered, *self.failed]

    @property
    def p95(self) -> float:
        """The least that the p95 can be."""
        return quantile(self.least, SHARE, self.rule) or 0.0

    @property
    def most(self) -> float:
        """The most that the p95 can be: with the failed queries as the slowest."""
        return quantile([*self.answered, *(math.inf for _ in self.failed)], SHARE, self.rule) or 0.0

    @property
    def failures_note(self) -> str:
        if not self.failed:
            return ""
        count = f"{len(self.failed)} timed {'query' if len(self.failed) == 1 else 'queries'}"
        return f"; {count} of {self.place} failed, and took at least as long as that took"


def _named(state: str, rule: Rule) -> str:
    return f"p95 {state}" + ("" if rule == NEAREST_RANK else f" ({rule})")


def _times(name: str, folder: Path, state: str, key: str, rule: Rule) -> _Times:
    answered, failed = (tuple(latency.query_times(folder, timed)) for timed in (state, "failed"))
    if not answered and not failed:
        raise InputError(
            f"{name}: {folder} has no p95 of {state} queries",
            expected="queries that were timed one by one",
            found=latency.why_none(folder, state),
            remedy=f"take {key}.{state} out, or measure with a store that has {state} queries",
        )
    return _Times(answered, failed, folder.name, rule)


def _ratio(value: float | None, base: float | None) -> float | None:
    return value / base if value is not None and base else None


def _noisy(folder: Path) -> str:
    return f"noisy: single queries on {latency.machine(folder) or 'an unnamed machine'}"
