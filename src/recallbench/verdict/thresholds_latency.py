"""Latency held to thresholds: the p95 of single queries, by itself and against the baseline's."""

from __future__ import annotations

import math
from pathlib import Path

from recallbench.errors import InputError
from recallbench.results import latency
from recallbench.results.metrics import OVERALL
from recallbench.results.thresholds import ThresholdPart
from recallbench.scoring.intervals import LEVEL
from recallbench.scoring.quantiles import quantile, quantile_interval

SHARE = 0.95
FEW = 20
"""Of fewer queries the p95 is the slowest one."""


def absolute(name: str, folder: Path, state: str, limit: float, *, strict: bool) -> ThresholdPart:
    """The p95 of the folder's queries in that state, which may be `limit` at most."""
    times, found = _p95(name, folder, state, "p95_ms")
    bounds = quantile_interval(times, SHARE)
    short, failed = found > limit, _failed(folder)
    note = f"{_noisy(folder)}{f', of {len(times)} the slowest' if len(times) < FEW else ''}"
    return ThresholdPart(
        result=name, part=OVERALL, what="p95_ms", measure=f"p95 {state}",
        required=limit, observed=found, low=bounds.low, high=bounds.high, ceiling=None, n=len(times),
        # Those that failed may have been the slowest: without them a p95 can be too long, and never short enough.
        outcome="falls short" if short or (failed and strict) else "cannot tell" if failed else "holds",
        by=found - limit if short else None, note=f"{note}{failed and f'; {failed}'}",
    )  # fmt: skip


def relative(name: str, folder: Path, baseline: Path, state: str, limit: float, *, strict: bool) -> ThresholdPart:
    """The same against the baseline's, which it may be `limit` times at most; times of other hardware tell nothing."""
    times, now = _p95(name, folder, state, "p95_ratio")
    before_times, before = _p95(name, baseline, state, "p95_ratio")
    # Both at once with 95%: each has the root of it.
    level = math.sqrt(LEVEL)
    new, old = quantile_interval(times, SHARE, level), quantile_interval(before_times, SHARE, level)
    observed, few = _over(now, before), min(len(times), len(before_times))
    note = f"p95 {now:.3g} ms against {before:.3g} ms; {_noisy(folder)}{', few of them' if few < FEW else ''}"
    short = observed is None or observed > limit
    outcome = "falls short" if short else "holds"
    if failed := _failed(folder) or _failed(baseline):
        outcome = "falls short" if short or strict else "cannot tell"
        note = f"{note}; {failed}"
    if other := latency.other_hardware(baseline, folder):
        outcome = "falls short" if strict else "cannot tell"
        note = f"times of different machines say nothing: {other}{', which `strict` forbids' if strict else ''}"
    return ThresholdPart.model_validate(
        {
            "result": name,
            "part": OVERALL,
            "what": "p95_ratio",
            "measure": f"p95 {state} / baseline",
            "required": limit,
            "observed": None if other else observed,
            "low": None if other else _over(new.low, old.high),
            "high": None if other else _over(new.high, old.low),
            "ceiling": None,
            "n": len(times),
            "outcome": outcome,
            "by": observed - limit if short and not other and observed is not None else None,
            "note": note,
        }
    )


def _p95(name: str, folder: Path, state: str, key: str) -> tuple[list[float], float]:
    times = latency.query_times(folder, state)
    found = quantile(times, SHARE)
    if found is None:
        raise InputError(
            f"{name}: {folder} has no p95 of {state} queries",
            expected="queries that were timed one by one",
            found=latency.why_none(folder, state),
            remedy=f"take {key}.{state} out, or measure with a store that can tell {state} queries",
        )
    return times, found


def _failed(folder: Path) -> str:
    """That queries failed which were to be timed; empty where none did."""
    failed = len(latency.query_times(folder, "failed"))
    return (
        f"{failed} timed quer{'y' if failed == 1 else 'ies'} of {folder.name} failed, and are not among these"
        if failed
        else ""
    )


def _over(one: float | None, other: float | None) -> float | None:
    return one / other if one is not None and other else None


def _noisy(folder: Path) -> str:
    return f"noisy: single queries on {latency.machine(folder) or 'an unnamed machine'}"
