"""What a store of a size takes: constants of tiny runs, designs worked out by hand, and the page."""

from __future__ import annotations

from dataclasses import replace
from math import log
from typing import Any

import pytest

import make_scale
from scaling.constants import Constants, constants, read, smaller
from scaling.designs import Server, Workload, exact, one_index, partitions, several
from scaling.page import rewritten, tables
from scaling.simulation import simulate

SERVER = Server(
    processors=2, memory_gb=10, disk_gb=100, disk_mb_s=1000, question_ms=100, build_h=24, build_mb=5_000,
    scan_tuples=20_000, processor_hour=0.1, memory_gb_hour=0.01, disk_gb_month=0.5,
)  # fmt: skip
OF = Constants(
    copy_s=1e-8, vector_bytes=4_000, btree_bytes=100, hnsw_bytes=8_000, ask_ms=0.5, compare_ms=0.001, build_s=1e-5,
    outgrown=10, graph_bytes=5_242.88, hop_ms=0.1, walk_ms=0.01,
)  # fmt: skip


def run(segments: int, **more: Any) -> dict[str, Any]:
    """A run on a machine with simple figures."""
    return {
        "segments": segments, "scopes": 10, "dimensions": 1000, "characters": 1000 * segments,
        "copy_s": segments * 5000 * 1e-8, "table_bytes": 5000 * segments, "btree_bytes": 100 * segments,
        "hnsw_bytes": 8000 * segments, "build_s": 1e-5 * segments * log(segments), "ef_search": [10, 40],
        "exact_block_ms": 0.5 + 0.001 * segments / 10,
        "unscoped_ms": [0.0, 0.1 * log(segments)], "scanned_on_ms": [1.0],
    } | more  # fmt: skip


def test_constants_are_those_that_the_runs_were_made_with() -> None:
    small, large = run(1_000), run(100_000)
    # The half that had no room took ten times as long.
    small |= {"outgrown_s": small["build_s"] * 5.5, "outgrown_mb": 2.5, "outgrown_after": 500}
    found = constants([small, large])
    for name in Constants.__slots__:
        assert getattr(found, name) == pytest.approx(getattr(OF, name)), name
    assert smaller([large, small]) == ([small], large)


def test_a_run_that_was_not_used_is_predicted_beside_what_was_seen() -> None:
    seen = {each.name: (each.unit, each.ratio) for each in simulate(run(50_000, build_s=1.0), OF, 5_000)}
    assert seen["COPY of all segments"] == ("s", pytest.approx(1))
    assert seen["table"] == ("GB", pytest.approx(1))
    assert seen["building the HNSW"] == ("s", pytest.approx(1e-5 * 50_000 * log(50_000)))
    assert len(seen) == 8


def test_designs_are_worked_out() -> None:
    work = Workload("small", 1_000_000, 100, 1_000)
    alone = exact(work, OF, SERVER)
    assert alone.hours == pytest.approx(1e6 * 5096 * 1e-8 / 3600)
    assert (alone.memory_gb, alone.disk_gb, alone.stops) == (pytest.approx(5.1), pytest.approx(5.1), "")
    assert alone.question_ms == pytest.approx(0.5 + 10)
    assert alone.month == pytest.approx(730 * (2 * 0.1 + 10 * 0.01) + 5.1 * 0.5)
    index = one_index(work, OF, SERVER)
    assert index.memory_gb == pytest.approx(8)
    assert index.hours == pytest.approx((50.96 + 1e-5 * log(1e6) * 1e6) / 3600)
    assert index.question_ms == pytest.approx(0.5 + 0.1 * log(1e6) + 0.01 * 990)
    assert index.stops == ""


def test_each_design_stops_where_something_is_short() -> None:
    large = Workload("large", 5_000_000, 100, 1_000)
    assert exact(large, OF, SERVER).stops == "a question: 250 ms, 100 allowed"  # each scope is read from the disk
    assert one_index(large, OF, SERVER).stops == "memory: 40 of 10 GB"
    many = Workload("many", 1_000_000, 1_000_000, 1_000)
    assert one_index(many, OF, SERVER).stops == "short answers: a scope is 1 of 1,000,000 segments"
    slow = replace(OF, build_s=1.0)
    assert one_index(Workload("slow", 500_000, 10, 0), slow, SERVER).stops == "building: 1,823 h, 24 allowed"
    vast = Workload("vast", 100_000_000, 1_000, 0)
    assert exact(vast, OF, SERVER).stops == "disk: 410 of 100 GB"


def test_several_servers_are_as_few_as_hold_it() -> None:
    large = Workload("large", 5_000_000, 100, 1_000)
    spread = several(exact, large, OF, SERVER)
    assert (spread.servers, spread.question_ms, spread.stops) == (3, pytest.approx(50.5), "")
    parts = several(partitions, large, OF, SERVER)
    assert (parts.servers, parts.memory_gb, parts.stops) == (4, pytest.approx(10), "")
    loading, building = 5e6 * 5096 * 1e-8, OF.build(1e6, 5_000) * 5 / 4  # five parts on four servers
    assert parts.hours == pytest.approx((loading + building) / 3600)
    assert parts.question_ms == pytest.approx(0.5 + 0.1 * log(1e6) + 0.01 * 190)
    assert several(exact, Workload("one scope", 5_000_000, 1, 1_000), OF, SERVER).servers == 1


def test_a_build_beyond_its_memory_takes_longer_for_the_rest() -> None:
    assert OF.build(2e6, 5_000) == pytest.approx(1e-5 * log(2e6) * (1e6 + 10 * 1e6))
    assert OF.build(5e5, 5_000) == pytest.approx(1e-5 * log(5e5) * 5e5)


def test_a_page_is_rewritten_between_its_marks() -> None:
    assert rewritten("a\n<!-- table: x -->\nold\n<!-- end -->\nb", {"x": "| new |"}) == (
        "a\n<!-- table: x -->\n\n| new |\n\n<!-- end -->\nb"
    )


def test_the_page_is_current_and_the_largest_run_is_met() -> None:
    assert make_scale.main(["--check"]) == 0
    data = read()
    others, largest = smaller(data["run"])
    assert largest["segments"] == 250_000
    assert all(run["command"].endswith(f"large_store.py {run['segments']}") for run in data["run"])
    assert set(tables(data)) == {"measured", "widths", "held", "constants", "designs", "embedding"}
    ratios = {
        each.name: each.ratio for each in simulate(largest, constants(others), data["assumed"]["server"]["build_mb"])
    }
    assert {name: ratio for name, ratio in ratios.items() if not 0.5 <= ratio <= 2} == {}
