"""Results to gate, and the outcome of `recallbench gate`."""

from __future__ import annotations

import json
from pathlib import Path

from commandline import recallbench

RUNS = {
    "night_20260101": ("canary-locomo", "--store", "bm25"),
    "night_20260102": ("canary-locomo", "--store", "exact", "--embedder", "hash"),
}


def write(workspace: Path, text: str, folder: str = "results/night_20260101") -> None:
    (workspace / "recallbench.toml").write_text(f'[result.night]\nfolder = "{folder}"\n{text}')


def gate(folder: Path, *words: str) -> tuple[int, dict]:
    done = recallbench("gate", *words, "--format", "json", cwd=folder)
    assert done.returncode in (0, 1)
    return done.returncode, json.loads(done.stdout)


def values_of(folder: Path, name: str) -> dict[str, list[tuple[str, str, float]]]:
    """Return kind, scope and recall_any@10 by question, from the file alone."""
    values = {}
    for line in (folder / "results" / name / "raw_retrievals.jsonl").read_text().splitlines():
        row = json.loads(line)
        in_top_ten = any(hit["id"] in row["gold"] for hit in row["hits"][:10])
        values[row["question_id"]] = (row["kind"], row["scope"], float(in_top_ten))
    return values


def refused(folder: Path, *words: str, code: int = 2) -> str:
    done = recallbench("gate", *words, cwd=folder)
    assert (done.returncode, done.stdout) == (code, "")
    return done.stderr
