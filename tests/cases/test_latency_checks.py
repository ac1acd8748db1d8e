"""Limits on the percentiles of a report's latencies."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

import recallbench
from recallbench import BelowThreshold, Case
from recallbench.errors import InputError, UsageError


def timed(*ms: float | None) -> recallbench.Report:
    """Return a report whose calls took these milliseconds; None is a case that failed."""
    report = recallbench.evaluate([Case(str(n), ["a"]) for n in range(len(ms))], lambda query, k: ["a"])
    failure = InputError("broken")
    answers = [
        replace(answer, ms=at, failure=failure if at is None else None)
        for answer, at in zip(report.answers, ms, strict=True)
    ]
    return replace(report, answers=tuple(answers))


def missed(report: recallbench.Report, **limits: float) -> str:
    with pytest.raises(BelowThreshold) as caught:
        report.check(**limits)
    return str(caught.value)


def test_a_percentile_decides_where_the_calls_are_enough_for_its_upper_bound() -> None:
    times = [float(n) for n in range(1, 60)]
    # p95 of 59 is the 57th; .95^59 = .0485, so the 59th lies above it with 95%, and P(B <= 52) = .0326.
    report = timed(*times)
    report.check(p95_ms=57, recall=1.0)
    report.check({"p50_ms": 30, "p95_ms": 57.5})
    assert missed(report, p95_ms=56.9).splitlines() == [
        "1 of 1 thresholds missed over 59 cases (matching: id)",
        "  p95_ms is 57 of 59 calls (bounds of 95% each: 53 and 59), at most 56.9 required",
    ]


@pytest.mark.parametrize(("name", "fewest"), [("p50_ms", 5), ("p95_ms", 59), ("p99_ms", 299)])
def test_with_fewer_calls_the_check_is_inconclusive_and_fails(name: str, fewest: int) -> None:
    timed(*[1.0] * fewest).check({name: 2.0})
    for limit in (2.0, 0.5):
        assert missed(timed(*[1.0] * (fewest - 1)), **{name: limit}).splitlines() == [
            f"1 of 1 thresholds inconclusive over {fewest - 1} cases (matching: id)",
            f"  {name} is 1 of {fewest - 1} calls, at most {limit:g} required: inconclusive, its upper bound takes "
            f"{fewest} calls",
        ]


def test_a_case_that_failed_counts_as_the_slowest() -> None:
    # p95 of 60 is the 57th, of 61 the 58th.
    timed(*[1.0] * 57, None, None, None).check(p95_ms=2.0)
    assert missed(timed(*[1.0] * 57, None, None, None, None), p95_ms=2.0).splitlines()[1] == (
        "  p95_ms is 1 of 61 calls, at most 2 required: inconclusive, 4 cases failed, and how long an answer would "
        "have taken is not known"
    )


def test_missed_and_inconclusive_thresholds_are_counted_apart() -> None:
    lines = missed(timed(1.0, 1.0), p95_ms=2.0, precision=0.9).splitlines()
    assert lines[0] == "1 of 2 thresholds missed, 1 of 2 thresholds inconclusive over 2 cases (matching: id)"


def test_without_times_the_check_is_inconclusive() -> None:
    report = timed(1.0)
    untimed = replace(report, answers=(replace(report.answers[0], ms=None),))
    assert "p95_ms: inconclusive, no call was timed; at most 5 required" in missed(untimed, p95_ms=5)


def test_limits_that_make_no_sense_are_refused() -> None:
    report = timed(1.0)
    for limit in (0, -1, math.inf, math.nan, True, "5"):
        with pytest.raises(UsageError, match="a limit for p95_ms"):
            report.check(p95_ms=limit)  # type: ignore[arg-type]
    for name in ("p0_ms", "p100_ms", "p95"):
        with pytest.raises(UsageError, match="unknown threshold"):
            report.check({name: 5})
    with pytest.raises(UsageError, match="the limit of a percentile is a keyword"):
        report.check("p95_ms <= 5")
