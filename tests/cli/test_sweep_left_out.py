"""What a sweep says before it asks anything: combinations that can't go together, and answers that an index caps."""

from __future__ import annotations

import json
from pathlib import Path

from commandline import recallbench

RUN = '[run]\ncorpus = "canary-locomo"\nembedder = "hash"\nout = "out"\nlimit = 40\nset = {weights = "cosine"}\n'


def test_combinations_that_cannot_go_together_are_left_out_and_told(tmp_path: Path) -> None:
    swept = '[parameters]\n"set.index" = ["exact", "hnsw"]\n"set.ef_search" = [10, 60]\n'
    (tmp_path / "index.toml").write_text(RUN + swept)
    done = recallbench("sweep", "index.toml", "--no-race", cwd=tmp_path)
    assert done.returncode == 0
    assert "2 of 4 combinations are left out: --set index=exact has no use for --set ef_search" in done.stderr
    assert "ef_search 10 caps every answer at 10 of the 50 hits asked for" in done.stderr
    assert "\n2 combinations left out: they can't go together.\n" in done.stdout
    assert done.stdout.splitlines()[-1].startswith("No point can be chosen: 1 cluster can't tell p3 and p4 apart; p")
    points = json.loads(next((tmp_path / "out").glob("*/sweep.json")).read_text())["points"]
    assert [(point["name"], point["parameters"]) for point in points] == [
        ("p3", {"set.index": "hnsw", "set.ef_search": "10"}),
        ("p4", {"set.index": "hnsw", "set.ef_search": "60"}),
    ]


def test_a_dry_run_counts_combinations_that_are_left_out(tmp_path: Path) -> None:
    swept = '[parameters]\n"set.index" = ["exact", "hnsw"]\n"set.ef_search" = [60]\n'
    (tmp_path / "index.toml").write_text(RUN + swept)
    done = recallbench("sweep", "index.toml", "--dry-run", "-q", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "; 1 combination left out; next: recallbench sweep index.toml -q" in done.stdout.splitlines()[-1]


def test_a_value_that_goes_with_nothing_is_an_error(tmp_path: Path) -> None:
    swept = '[parameters]\n"set.index" = ["hnsw"]\n"set.ef_search" = [10, "many"]\n'
    (tmp_path / "index.toml").write_text(RUN + swept)
    done = recallbench("sweep", "index.toml", "--no-race", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "ef_search" in done.stderr
    assert not (tmp_path / "out").exists()


def test_values_none_of_which_go_together_are_an_error(tmp_path: Path) -> None:
    swept = '[parameters]\n"set.weights" = ["cosine", "bm25"]\n"set.half_life" = [10, 100]\n'
    (tmp_path / "parts.toml").write_text(RUN + swept)
    done = recallbench("sweep", "parts.toml", "--no-race", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "parts, p1 (set.weights = cosine, set.half_life = 10): " in done.stderr
    assert not (tmp_path / "out").exists()
