"""Logs of recalls, and the output of `recallbench sample`."""

from __future__ import annotations

import json
from pathlib import Path

from commandline import recallbench


def log_of(recalls: int = 300) -> list[dict]:
    """Return recalls of three kinds, 60, 30 and 10 percent of them, with 49 distinct queries."""
    log = []
    for i in range(recalls):
        kind, queries = (("fact", 50), ("date", 25), ("place", 8))[0 if i % 10 < 6 else 1 if i % 10 < 9 else 2]
        query = f"{kind} question {(i * 7) % queries}"
        ids = [f"d{(i * 7) % queries}", f"x{i % 3}"] if i % 4 else [f"x{i % 3}", f"d{(i * 7) % queries}"]
        log.append({"query": query, "ids": ids, "kind": kind, "ms": float(i % 100), "at": f"2026-01-01T{i:06}"})
    return log


def write(path: Path, records: list[dict]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def drawn(cwd: Path, *words: str | Path) -> list[dict]:
    done = recallbench("sample", *words, cwd=cwd)
    assert done.returncode == 0
    return [json.loads(line) for line in done.stdout.splitlines()]


def label(sample: list[dict], path: Path) -> Path:
    """Write labels as a person would: the right document of "… question 7" is d7."""
    return write(path, [record | {"relevant": [f"d{record['query'].split()[-1]}"]} for record in sample])


def scored(cwd: Path, *words: str | Path) -> dict:
    done = recallbench("sample", *words, "--format", "json", cwd=cwd)
    assert done.returncode == 0
    return json.loads(done.stdout)


ANSWERS = (
    ("What is the capital of France?", "Berlin is large.", "Paris is the capital and most populous city of France."),
    ("When does the ferry leave?", "The ferry leaves at nine!", "It rains."),
    ("What colour is it?", "Nobody knows.", "The ferry to Oslo leaves at ten."),
    ("Who sells cars?", "Cars are loud."),
)


EXPECTED = ("Paris is the capital of France.", "the ferry leaves at nine", "a blue bicycle")


def write_text_log(tmp_path: Path) -> None:
    """Write a log whose lines have texts, and labels that expect texts."""
    log = [{"query": query, "ids": [f"m{i}" for i in range(len(texts))], "texts": texts} for query, *texts in ANSWERS]
    write(tmp_path / "log.jsonl", log)
    labels = [{"query": answer[0], "expected": expected} for answer, expected in zip(ANSWERS, EXPECTED, strict=False)]
    write(tmp_path / "gold.jsonl", [*labels, {"query": ANSWERS[3][0], "kind": "abstention"}])
