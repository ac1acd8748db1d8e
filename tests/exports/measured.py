"""Folders to export: results of two systems and two days, a study of latency, a sweep, and folders that are none."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from commandline import recallbench
from recallbench.results import manifest
from recallbench.results.load.levels import LatencyDocument

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
limit = 40
out = "sweeps"
[parameters]
k = [5, 10]
[baseline]
"""
RUNS = {
    "bm25": ("canary-locomo", "--store", "bm25"),
    "few": ("canary-locomo", "--store", "bm25", "--limit", "20"),
    "hybrid": ("canary-locomo", "--embedder", "hash", "--pipeline", "hybrid.toml", "--with-text"),
    "other": ("canary-longmemeval", "--store", "bm25"),
}
LATER = "2026-12-24T06:00:00+00:00"
HOSTILE = 'bm25 "x"\\ <b>\nEND\x1b[31m'
"""What a store may call its version."""


def measure(folder: Path) -> Path:
    """Fill a folder with all of them."""
    (folder / "hybrid.toml").write_text(HYBRID)
    (folder / "tune.toml").write_text(GRID)
    for name, words in RUNS.items():
        assert recallbench("run", *words, "--folder", name, "-q", cwd=folder).returncode == 0
    later(folder / "bm25", folder / "later", version=HOSTILE)
    words = ("latency", "canary-locomo", "--store", "bm25", "--seconds", "0.2", "--limit", "40", "--out", "load", "-q")
    assert recallbench(*words, cwd=folder).returncode == 0
    rewrite_study(next((folder / "load").iterdir()))
    assert recallbench("sweep", "tune.toml", "-q", cwd=folder).returncode == 0
    (folder / "blocked").mkdir()
    (folder / "blocked" / "BLOCKED.md").write_text("# BLOCKED\n")
    (folder / "versions_20261119").mkdir()
    shutil.copytree(folder / "few", folder / "versions_20261119" / "first")
    shutil.copytree(folder / "few", folder / "changed")
    (folder / "changed" / "run.trec").write_text("")
    return folder


def folders(place: Path) -> list[str]:
    """All that can be exported, by name."""
    inside = [str(path.relative_to(place)) for parent in ("load", "sweeps") for path in (place / parent).iterdir()]
    return [*RUNS, "later", *sorted(inside)]


UNUSABLE = ("blocked", "versions_20261119", "changed", "nowhere")


def later(source: Path, folder: Path, version: str) -> None:
    """Write a result again as of another day, with another version and other times, as if that had been measured."""
    shutil.copytree(source, folder)
    environment = json.loads((folder / "environment.json").read_text())
    (folder / "environment.json").write_text(json.dumps(environment | {"started": LATER}))
    metrics = json.loads((folder / "metrics.json").read_text())
    metrics["store"] |= {"version": version, "version_after": version}
    (folder / "metrics.json").write_text(json.dumps(metrics))
    lines = [json.loads(line) for line in (folder / "timings.jsonl").read_text().splitlines()]
    (folder / "timings.jsonl").write_text("".join(json.dumps(line | {"ms": 2.0}) + "\n" for line in lines))
    (folder / manifest.NAME).write_text(manifest.build(folder))


def rewrite_study(folder: Path) -> None:
    """Make one level of a study void and the others not, whatever the machine did."""
    study = LatencyDocument.model_validate_json((folder / "latency.json").read_bytes())
    rows = [row.model_copy(update={"void": row.level == 1, "why_void": "as a test says"}) for row in study.rows]
    (folder / "latency.json").write_text(study.model_copy(update={"rows": rows}).model_dump_json(indent=1) + "\n")
    (folder / manifest.NAME).write_text(manifest.build(folder))
