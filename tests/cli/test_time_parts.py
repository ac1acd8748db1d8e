"""What a time includes, through the command line: store call, adapter, end to end, and a round trip without work."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from commandline import recallbench
from recallbench.results.environment import recorded_load

MEMORY = """
import time

class Memory:
    def __init__(self):
        self.ids = []
    def add(self, id, text):
        self.ids.append(id)
    def search(self, query, k):
        return [(id, 1.0) for id in self.ids[:k]]

class Cached(Memory):
    def round_trip(self):
        time.sleep(0.005)

class Honest(Memory):
    def search(self, query, k):
        time.sleep(0.002)
        return super().search(query, k)
    def round_trip(self):
        pass
"""
IMPOSSIBLE = "These can't be the times of the store"


def measured(place: Path, store: str, *more: str) -> tuple[Path, str]:
    (place / "timed_memory.py").write_text(MEMORY)
    ran = recallbench("run", "canary-locomo", "--store", store, "--limit", "20", *more, "--folder", "result", cwd=place)
    assert ran.returncode == 0, ran.stderr
    return place / "result", ran.stdout


def audited(folder: Path) -> str:
    return recallbench("audit", str(folder), cwd=folder.parent).stdout


def test_a_store_that_answers_faster_than_its_own_round_trip_is_told(tmp_path: Path) -> None:
    folder, printed = measured(tmp_path, "python:timed_memory:Cached")
    assert IMPOSSIBLE in printed
    report, page = (folder / "report.md").read_text(), (folder / "report.html").read_text()
    assert IMPOSSIBLE in report
    assert "be the times of the store" in page
    assert "| no-op round trip | – | 40 |" in report
    rows = [json.loads(line) for line in (folder / "timings.jsonl").read_text().splitlines()]
    assert sum(row.get("state") == "no-op" for row in rows) == 40
    warm = [row for row in rows if row.get("state") == "warm"]
    assert len(warm) == 20
    assert all(0 <= row["store_ms"] + row["adapter_ms"] <= row["ms"] + 0.01 for row in warm)
    assert "  fail " not in audited(folder)
    told = recallbench("table", str(folder), cwd=tmp_path).stdout
    assert IMPOSSIBLE in told


def test_a_store_that_answers_slower_than_its_round_trip_is_believed(tmp_path: Path) -> None:
    folder, printed = measured(tmp_path, "python:timed_memory:Honest")
    assert IMPOSSIBLE not in printed + (folder / "report.md").read_text()
    assert "store call" in printed
    assert "no-op round trip" in printed
    path = folder / "timings.jsonl"
    lines = path.read_text().splitlines()
    place = next(n for n, line in enumerate(lines) if "store_ms" in line)
    lines[place] = json.dumps(json.loads(lines[place]) | {"store_ms": 1e6})
    path.write_text("\n".join(lines) + "\n")
    assert "parts that take longer than the query itself" in audited(folder)


def test_a_store_in_this_process_says_that_its_call_is_all(tmp_path: Path) -> None:
    folder, printed = measured(tmp_path, "bm25")
    reason, path = "the store runs in this process", folder / "environment.json"
    assert "store call" not in printed
    assert f"Store call and adapter are not told apart: {reason}." in (folder / "report.md").read_text()
    stated = json.loads(path.read_text())
    assert stated["store_calls"] == reason
    # Of a run that took long enough it is told what else the machine did.
    loud = {"seconds": 2.0, "cores": 2, "others": 0.4, "steal": 0.0, "throttled": None, "load_average": 1.5}
    load = recorded_load({"machine_load": loud})
    assert load is not None
    assert "Not a quiet machine: other processes had 40% of 2 processors" in load.sentence
    path.write_text(json.dumps(stated | {"machine_load": loud | {"others": "-1"}}))
    assert "no load of a machine" in audited(folder)


def test_growing_haystacks_name_answers_that_are_too_fast(tmp_path: Path) -> None:
    (tmp_path / "timed_memory.py").write_text(MEMORY)
    words = ("--store", "python:timed_memory:Cached", "--limit", "5", "--factors", "1", "--quiet")
    ran = recallbench("grow", "canary-locomo", *words, cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert f"1x: {IMPOSSIBLE}" in ran.stdout
    assert "one by one, end to end, on this machine, percentiles are nearest ranks" in ran.stdout


def test_a_machine_with_other_load_is_refused_where_it_must_be_quiet(tmp_path: Path) -> None:
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count() or 1)]
    try:
        words = ("run", "canary-locomo", "--store", "bm25", "--limit", "5", "--folder", "result", "--require-quiet")
        # Not children of the command: to it they are other processes.
        ran = recallbench(*words, cwd=tmp_path)
        assert ran.returncode == 3
        assert "the machine is not quiet" in ran.stderr
        assert "other processes had" in ran.stderr
        assert not (tmp_path / "result").exists()
    finally:
        for process in busy:
            process.kill()
            process.wait()


def test_of_a_pipeline_the_legs_that_go_elsewhere_are_told(tmp_path: Path) -> None:
    legs = [f'[[stage]]\nkind = "search"\nmethod = "{method}"\n' for method in ("store", "bm25")]
    (tmp_path / "hybrid.toml").write_text("".join(legs) + '[[stage]]\nkind = "fuse"\nmethod = "rrf"\n')
    folder, printed = measured(tmp_path, "python:timed_memory:Cached", "--pipeline", "hybrid.toml")
    assert IMPOSSIBLE in printed
    rows = [json.loads(line) for line in (folder / "timings.jsonl").read_text().splitlines()]
    for row in (row for row in rows if row.get("state") == "warm"):
        assert row["store_ms"] + row["adapter_ms"] == pytest.approx(row["stages"]["store"], abs=0.001)
    assert IMPOSSIBLE in recallbench("stages", str(folder), cwd=tmp_path).stdout
    assert "  fail " not in audited(folder)
