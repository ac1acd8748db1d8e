"""Tiny labelled sets, written as a team would."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

DOCUMENTS = (
    {"_id": "oslo", "tenant": "north", "title": "Oslo", "text": "The ferry to Oslo leaves at nine.", "importance": 0.9},
    {"_id": "bergen", "tenant": "north", "text": "In Bergen it rains.", "occurred_at": "2026-03-01"},
    {"_id": "fjord", "tenant": "north", "text": "A fjord is deep."},
    {"_id": "rome", "tenant": "south", "text": "The train to Rome leaves at ten."},
    {"_id": "oslo", "tenant": "south", "text": "Nobody in the south knows Oslo."},
)
QUERIES = (
    {
        "_id": "q1",
        "tenant": "north",
        "kind": "travel",
        "text": "When does the ferry leave?",
        "labelled_at": "2026-05-01",
    },
    {
        "_id": "q2",
        "tenant": "north",
        "kind": "weather",
        "text": "Where does it rain?",
        "labelled_at": "2026-06-01T10:00",
    },
    {"_id": "q3", "tenant": "south", "kind": "travel", "text": "When does the train leave?"},
    {"_id": "q4", "tenant": "south", "kind": "abstention", "text": "Who sells the blue bicycle?"},
)
JUDGED = "query-id\tcorpus-id\tscore\nq1\toslo\t2\nq1\tfjord\t1\nq2\tbergen\t1\nq3\trome\t1\nq3\toslo\t0\n"


EXPECTING = (
    {"query_id": "capital", "query": "What is the capital of France?", "expected": "Paris is the capital of France."},
    {"query_id": "ferry", "query": "When does the ferry leave?", "expected": "the ferry leaves at nine"},
    {"query_id": "bicycle", "query": "What colour is it?", "expected": "a blue bicycle"},
    {"query_id": "cars", "query": "Who sells cars?", "kind": "abstention"},
)
"""A short form with texts of answers; `SAYING` has two of them."""
SAYING = (
    {"_id": "berlin", "text": "Berlin is large."},
    {"_id": "paris", "text": "Paris is the capital and most populous city of France."},
    {"_id": "nine", "text": "The ferry leaves at nine!"},
    {"_id": "ten", "text": "The ferry to Oslo leaves at ten."},
)


def jsonl(path: Path, rows: Iterable[Mapping[str, object]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def beir(
    folder: Path,
    documents: Iterable[Mapping[str, object]] = DOCUMENTS,
    queries: Iterable[Mapping[str, object]] = QUERIES,
    **splits: str,
) -> Path:
    """BEIR's layout; each keyword is a split with its judgements."""
    (folder / "qrels").mkdir(parents=True)
    jsonl(folder / "corpus.jsonl", documents)
    jsonl(folder / "queries.jsonl", queries)
    for name, judged in (splits or {"test": JUDGED}).items():
        (folder / "qrels" / f"{name}.tsv").write_text(judged)
    return folder


def short(
    folder: Path,
    labels: Iterable[Mapping[str, object]],
    documents: Iterable[Mapping[str, object]] = DOCUMENTS,
) -> Path:
    """The short form beside documents."""
    folder.mkdir()
    jsonl(folder / "corpus.jsonl", documents)
    jsonl(folder / "gold.jsonl", labels)
    return folder
