"""When replacing a baseline is killed, the old or the new one is whole, and the next call cleans up."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from commandline import recallbench
from killing import killed_at
from recallbench.compare.baseline import store
from recallbench.results import manifest

CHANGES = ("os.mkdir", "os.remove", "os.rename", "os.rmdir")


@pytest.mark.marked
def test_a_replacement_killed_at_any_step_is_finished_by_the_next(tmp_path: Path) -> None:
    for name, more in (("old", ["--limit", "5"]), ("new", ["--limit", "6"])):
        result = recallbench(
            "run", "canary-locomo", "--store", "bm25", "--folder", tmp_path / name, *more, cwd=tmp_path
        )
        assert result.returncode == 0
    steps = 0
    while True:
        baseline = tmp_path / str(steps) / "baseline"
        shutil.copytree(tmp_path / "old", baseline)
        killed = killed_at(
            steps, lambda baseline=baseline: print(store(tmp_path / "new", baseline, replace=True)), CHANGES
        )
        aside = baseline.with_name(".baseline.before")
        assert any(folder.is_dir() and manifest.differences(folder) == [] for folder in (baseline, aside))
        store(tmp_path / "new", baseline, replace=True)
        assert sorted(os.listdir(baseline.parent)) == ["baseline"]
        assert (baseline / "metrics.json").read_bytes() == (tmp_path / "new" / "metrics.json").read_bytes()
        if not killed:
            break
        steps += 1
    assert steps > 8, steps
