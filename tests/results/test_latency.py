"""The times of single queries and of their stages, read back from a result's folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from recallbench.errors import InputError
from recallbench.reports.latency import latency_table
from recallbench.results.latency import stage_latencies

PHASE = {"phase": "ingest", "seconds": 1.5}


def folder_of(place: Path, *rows: dict[str, Any]) -> Path:
    (place / "timings.jsonl").write_text("".join(json.dumps(row) + "\n" for row in (PHASE, *rows)))
    return place


def timed(id: str, state: str, ms: float, **stages: float) -> dict[str, Any]:
    return {"question_id": id, "state": state, "ms": ms} | ({"stages": stages} if stages else {})


def test_each_stage_has_its_times_and_cold_and_warm_stay_apart(tmp_path: Path) -> None:
    rows = [timed("q1", "cold", 9, dense=5, rrf=1), timed("q1", "warm", 4, dense=2, rrf=1)]
    rows += [timed("q2", "warm", 3, dense=1.5, rrf=0.5), timed("q3", "failed", 80)]
    folder = folder_of(tmp_path, *rows)
    warm, cold, failed = (stage_latencies(folder, state) for state in ("warm", "cold", "failed"))
    assert [(latency.stage, latency.milliseconds) for latency in warm] == [
        ("", (4.0, 3.0)), ("dense", (2.0, 1.5)), ("rrf", (1.0, 0.5)),
    ]  # fmt: skip
    assert [(latency.stage, latency.n) for latency in cold] == [("", 1), ("dense", 1), ("rrf", 1)]
    assert [(percentile.share, percentile.value, percentile.high) for percentile in warm[0].percentiles()] == [
        (0.5, 3.0, None), (0.95, 4.0, None), (0.99, 4.0, None),
    ]  # fmt: skip
    table = latency_table({"cold": cold, "warm": warm, "failed": failed})
    assert [row[:3] for row in table.rows] == [
        ("end to end", "cold", "1"), ("dense", "cold", "1"), ("rrf", "cold", "1"),
        ("end to end", "warm", "2"), ("dense", "warm", "2"), ("rrf", "warm", "2"), ("end to end", "failed", "1"),
    ]  # fmt: skip


def test_the_bounds_of_a_table_are_dashes_where_there_are_too_few_times(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, *(timed(f"q{ms}", "warm", ms) for ms in range(1, 60)))
    (row,) = latency_table({"warm": stage_latencies(folder, "warm")}).rows
    # Ranks 23 and 37 of 59 are the bounds of a median; the largest of 59 that of a p95, and of a p99 there is none.
    assert row[3:] == ("30.000 (23.000 to 37.000)", "57.000 (53.000 to 59.000)", "59.000 (57.000 to –)", "59.000")


def test_a_time_that_is_none_is_named_with_its_line_and_stage(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, timed("q1", "warm", 4, dense=-2))
    with pytest.raises(InputError, match="line 2: dense: not the time of a query"):
        stage_latencies(folder, "warm")
