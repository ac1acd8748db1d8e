"""Sweeps as a user would write them: tiny, each with its files in a folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from labelled_sets import beir

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
TUNED = '''
def open_memory(items, vectors, *, hidden=0):
    """Finds the item whose text is the query's; one in so many it does not find."""
    known = {item.text: item.id for item in items}

    def search(query, k):
        id = known[query.text]
        return [] if hidden and id % hidden == 0 else [(id, 1.0)]

    return search

open_memory.needs_vectors = False
'''
LIST = """
[run]
store = "python:memory:open_memory"
out = "out"
[[point]]
set.hidden = 2
[[point]]
set.hidden = 0
[[point]]
set.hidden = 3
[baseline]
set.hidden = 50
"""


def tuned(folder: Path) -> Path:
    """A set of 200 independent queries, each of which has one document."""
    (folder / "memory.py").write_text(TUNED)
    (folder / "tune.toml").write_text(LIST)
    texts = [f"text {number}" for number in range(200)]
    judged = "".join(f"q{number}\td{number}\t1\n" for number in range(200))
    documents = [{"_id": f"d{number}", "text": text} for number, text in enumerate(texts)]
    queries = [{"_id": f"q{number}", "text": text} for number, text in enumerate(texts)]
    beir(folder / "team", documents, queries, test=f"query-id\tcorpus-id\tscore\n{judged}")
    return folder
