"""`recallbench sweep`: the points of a file, their answers kept, and what is wrong with a file said first."""

from __future__ import annotations

import csv
import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from commandline import environment, recallbench

HYBRID = """
[[stage]]
kind = "search"
method = "dense"
[[stage]]
kind = "search"
method = "lexical"
[[stage]]
kind = "fuse"
method = "rrf"
"""
GRID = """
[run]
corpus = "canary-locomo"
pipeline = "hybrid.toml"
embedder = "hash"
out = "out"
[parameters]
"rrf.k" = [1, 60]
k = [5, 10]
[baseline]
"""


def written(folder: Path, text: str = GRID) -> Path:
    (folder / "hybrid.toml").write_text(HYBRID)
    (folder / "tune.toml").write_text(text)
    return folder


def document(folder: Path, number: int = 0) -> dict[str, Any]:
    """The sweep.json of the sweep of that number."""
    found = sorted((folder / "out").glob("sweep_*"), key=lambda path: path.stat().st_mtime_ns)[number]
    return json.loads((found / "sweep.json").read_text())


def test_every_point_of_a_grid_has_the_figures_of_a_run(tmp_path: Path) -> None:
    written(tmp_path)
    done = recallbench("sweep", "tune.toml", "-q", cwd=tmp_path)
    assert done.returncode == 0
    assert done.stdout.startswith("Sweep tune on canary-locomo: 5 points\n")
    points = {point["name"]: point for point in document(tmp_path)["points"]}
    assert [point["parameters"] for point in points.values()] == [
        {"rrf.k": "1", "k": "5"},
        {"rrf.k": "1", "k": "10"},
        {"rrf.k": "60", "k": "5"},
        {"rrf.k": "60", "k": "10"},
        {},
    ]
    run = ("run", "canary-locomo", "--pipeline", "hybrid.toml", "--embedder", "hash", "--folder", "r", "-q")
    assert recallbench(*run, cwd=tmp_path).returncode == 0
    of_run = {
        row["measure"]: row for row in json.loads((tmp_path / "r/metrics.json").read_text())["estimates"]["overall"]
    }
    assert points["p3"]["estimate"] == of_run["recall_any@5"]
    assert points["p4"]["estimate"] == points["baseline"]["estimate"] == of_run["recall_any@10"]
    assert points["p1"]["estimate"] != points["p3"]["estimate"]
    # What is judged at another k is the same system, and is asked once.
    assert points["p1"]["answers_sha256"] == points["p2"]["answers_sha256"] != points["p3"]["answers_sha256"]
    assert points["p1"]["p95_ms"] == points["p2"]["p95_ms"] > 0
    (folder,) = (tmp_path / "out").iterdir()
    with (folder / "points.csv").open() as sheet:
        assert [row["value"] for row in csv.DictReader(sheet)] == [
            str(point["estimate"]["value"]) for point in points.values()
        ]


def test_two_sweeps_share_points(tmp_path: Path) -> None:
    written(tmp_path)
    assert recallbench("sweep", "tune.toml", "-q", cwd=tmp_path).returncode == 0
    (tmp_path / "tune.toml").write_text(GRID.replace("[1, 60]", "[7, 60]").replace("[baseline]", ""))
    again = recallbench("sweep", "tune.toml", "-q", cwd=tmp_path)
    assert again.returncode == 0
    assert [point["kept"] for point in document(tmp_path, -1)["points"]] == [False, False, True, True]
    assert "2 of 4 points were kept from before" in again.stdout
    # Another part of the questions is another thing to measure.
    assert recallbench("sweep", "tune.toml", "-q", "--limit", "20", cwd=tmp_path).returncode == 0
    assert not any(point["kept"] for point in document(tmp_path, -1)["points"])


def test_options_of_the_command_line_go_before_those_of_the_file(tmp_path: Path) -> None:
    written(
        tmp_path, '[run]\ncorpus = "locomo"\nembedder = "hash"\nout = "out"\nset = {index = "hnsw"}\n[parameters]\n'
    )
    with (tmp_path / "tune.toml").open("a") as file:
        file.write('"store" = ["exact", "bm25"]\n')
    words = ("sweep", "tune.toml", "canary-locomo", "--set", "k1=1", "--measure", "mrr@10", "--limit", "5", "-q")
    done = recallbench(*words, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "tune, p1 (store = exact): the store `exact` has no use for --set k1" in done.stderr


FAILING = """
def open_memory(items, vectors, *, broken=0):
    words = {item.id: set(item.text.lower().split()) for item in items}

    def search(query, k):
        if broken:
            raise RuntimeError("the index is gone")
        scored = [(id, float(len(set(query.text.lower().split()) & known))) for id, known in words.items()]
        return sorted(scored, key=lambda hit: -hit[1])[:k]

    return search

open_memory.needs_vectors = False
"""


def test_a_point_that_fails_is_named_and_the_others_go_on(tmp_path: Path) -> None:
    (tmp_path / "memory.py").write_text(FAILING)
    lines = ["[run]", 'store = "python:memory:open_memory"', 'out = "out"', "[[point]]", "set.broken = 1"]
    (tmp_path / "tune.toml").write_text("\n".join([*lines, "[[point]]", "set.broken = 0"]))
    words = ("sweep", "tune.toml", "canary-locomo", "--limit", "20")
    done = recallbench(*words, cwd=tmp_path)
    assert done.returncode == 1
    first, second = document(tmp_path)["points"]
    assert "the index is gone" in first["failure"]
    assert first["estimate"] is None
    assert second["estimate"]["n"] == 20
    assert "p1 (set.broken = 1) failed: " in done.stdout
    assert "the same command tries those alone again" in done.stdout
    (tmp_path / "memory.py").write_text(FAILING.replace("if broken:", "if False:"))
    assert recallbench(*words, cwd=tmp_path).returncode == 0
    assert [point["kept"] for point in document(tmp_path, -1)["points"]] == [False, True]
    # Once it is whole, nothing of somebody else's code is taken for known.
    assert recallbench(*words, cwd=tmp_path).returncode == 0
    assert [point["kept"] for point in document(tmp_path, -1)["points"]] == [False, False]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[parameters]\n"rff.k" = [1]', "you may mean rrf.k"),
        ('[parameters]\n"set.ef_serch" = [1]', "nothing has the parameter `set.ef_serch`"),
        ('[parameters]\n"rrf.k" = ["x"]', "tune, p1 (rrf.k = x): hybrid.toml, stage 3"),
        ("[parameters]\nk = [10, 51]", "k = 51 is deeper than the rankings"),
        ("[parameters]\nk = []", "`k` has no list of values"),
        ("[parameters]\nk = [5, 5]", "`k` has a value twice"),
        ("[parameter]\nk = [5]", "you may mean parameters"),
        ('method = "gird"\n[parameters]\nk = [5]', "you may mean grid"),
        ('method = "random"\n[parameters]\nk = [5]', "says how many points it draws"),
        ("[parameters]\nk = {from = 1, to = 5}", "`k` is a range"),
        ("[[point]]\nk = 5\n[[point]]\nk = 5", "point 2 is point 1 again"),
        ("[run]\nstor = 'x'\n[parameters]\nk = [5]", "unknown setting 'stor'"),
        ("[parameters", "can't be read as a sweep"),
    ],
)
def test_what_is_wrong_with_a_file_is_said_before_anything_runs(tmp_path: Path, text: str, words: str) -> None:
    written(tmp_path, text)
    run = ("--pipeline", "hybrid.toml", "--embedder", "hash", "--out", "out")
    done = recallbench("sweep", "tune.toml", "canary-locomo", *run, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.marked
def test_a_killed_sweep_goes_on(tmp_path: Path) -> None:
    slow = FAILING.replace("if broken:", "import time; time.sleep(0.002 * broken)\n        if False:")
    (tmp_path / "memory.py").write_text(slow)
    lines = ["[run]", 'store = "python:memory:open_memory"', 'out = "out"', "[parameters]", "set.broken = [0, 1, 2000]"]
    (tmp_path / "tune.toml").write_text("\n".join(lines))
    words = [sys.executable, "-m", "recallbench", "sweep", "tune.toml", "canary-locomo", "--limit", "20"]
    process = subprocess.Popen(words, cwd=tmp_path, env=environment(tmp_path), stderr=subprocess.PIPE)
    ends = time.monotonic() + 60
    while len(list((tmp_path / "cache").rglob("*.json.gz"))) < 2 and time.monotonic() < ends:
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert not (tmp_path / "out").exists() or not any((tmp_path / "out").glob("sweep_*"))
    (tmp_path / "memory.py").write_text(FAILING.replace("if broken:", "if False:"))
    assert recallbench(*words[3:], cwd=tmp_path).returncode == 0
    assert [point["kept"] for point in document(tmp_path)["points"]] == [True, True, False]
