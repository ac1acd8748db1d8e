"""A baseline that is replaced: whenever that is killed, one of the two is there whole, and nothing else in the end."""

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
def test_whenever_replacing_is_killed_the_next_one_goes_on(tmp_path: Path) -> None:
    for name, more in (("old", ["--limit", "5"]), ("new", ["--limit", "6"])):
        done = recallbench("run", "canary-locomo", "--store", "bm25", "--folder", tmp_path / name, *more, cwd=tmp_path)
        assert done.returncode == 0
    steps = 0
    while True:
        place = tmp_path / str(steps) / "baseline"
        shutil.copytree(tmp_path / "old", place)
        killed = killed_at(steps, lambda place=place: print(store(tmp_path / "new", place, replace=True)), CHANGES)
        aside = place.with_name(".baseline.before")
        assert any(one.is_dir() and manifest.differences(one) == [] for one in (place, aside))
        store(tmp_path / "new", place, replace=True)
        assert sorted(os.listdir(place.parent)) == ["baseline"]
        assert (place / "metrics.json").read_bytes() == (tmp_path / "new" / "metrics.json").read_bytes()
        if not killed:
            break
        steps += 1
    assert steps > 8, steps
