"""Results to compare, and the outcome of `recallbench compare`."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

from commandline import recallbench
from recallbench.corpora.canary import FOLDER

CORPUS = FOLDER / "locomo.json"


RUNS = {
    "bm25": ("canary-locomo", "--store", "bm25"),
    "exact": ("canary-locomo", "--store", "exact", "--embedder", "hash"),
    "again": ("canary-locomo", "--store", "bm25"),
    "texts": ("canary-locomo", "--store", "bm25", "--with-text"),
    "few": ("canary-locomo", "--store", "bm25", "--limit", "20"),
    "pooled": ("canary-locomo", "--store", "bm25", "--scope", "pooled"),
    "shallow": ("canary-locomo", "--store", "bm25", "--depth", "20"),
    "other": ("canary-longmemeval", "--store", "bm25"),
    "other-exact": ("canary-longmemeval", "--store", "exact", "--embedder", "hash"),
}


def compared(folder: Path, *words: str) -> dict:
    done = recallbench("compare", *words, "--json", cwd=folder)
    assert done.returncode in (0, 1)
    return json.loads(done.stdout)


def changed(workspace: Path, name: str, folder: Path, edit: Callable[[dict], None]) -> Path:
    """Return a copy of a result whose metrics.json was edited."""
    shutil.copytree(workspace / name, folder)
    metrics = json.loads((folder / "metrics.json").read_text())
    edit(metrics)
    (folder / "metrics.json").write_text(json.dumps(metrics))
    return folder


def reciprocal(folder: Path, name: str) -> dict[str, float]:
    """Return mrr@50 by question, from the file alone."""
    values = {}
    for line in (folder / name / "raw_retrievals.jsonl").read_text().splitlines():
        row = json.loads(line)
        ranks = (hit["rank"] for hit in row["hits"] if hit["id"] in row["gold"])
        values[row["question_id"]] = max((1 / rank for rank in ranks), default=0)
    return values


def by_name(parts: list[dict]) -> dict[str, dict]:
    return {part["measure"]: part for part in parts}
