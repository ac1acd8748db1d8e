"""The same three queries in every form of a file that `recallbench score` reads."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from commandline import recallbench

GOLD = {"q1": ["acme"], "q2": ["shellfish"], "q3": ["q3", "acme"]}


RANKED = {
    "q1": ["acme", "portland", "python"],
    "q2": ["python", "portland", "shellfish"],
    "q3": ["q3", "python", "acme"],
}


KINDS = {"q1": "fact", "q2": "fact", "q3": "plan"}


def lines(rows: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def write(folder: Path, name: str, text: str) -> str:
    (folder / name).write_text(text, encoding="utf-8")
    return name


GOLDS = {
    "qrels": "".join(f"{q} 0 {id} 1\n" for q, ids in GOLD.items() for id in ids) + "q1 0 python 0\nq2 0 x -1\n",
    "beir": "query-id\tcorpus-id\tscore\n" + "".join(f"{q}\t{id}\t1\n" for q, ids in GOLD.items() for id in ids),
    "jsonl": lines([{"query_id": q, "query": f"what of {q}?", "relevant": ids} for q, ids in GOLD.items()]),
    "graded jsonl": lines([{"query_id": q, "relevant": dict.fromkeys(ids, 1)} for q, ids in GOLD.items()]),
    "dict": json.dumps({q: dict.fromkeys(ids, 1) for q, ids in GOLD.items()}),
    "dict over lines": json.dumps({q: dict.fromkeys(ids, 1) for q, ids in GOLD.items()}, indent=2),
    "dict of lists": json.dumps(GOLD),
}


RUNS = {
    "trec": "".join(f"{q} Q0 {id} {n} {9 - n} me\n" for q, ids in RANKED.items() for n, id in enumerate(ids, 1)),
    "jsonl": lines([{"query_id": q, "ranked": ids} for q, ids in RANKED.items()]),
    "scored jsonl": lines(
        [{"_id": q, "ranked": [[id, 1 / n] for n, id in enumerate(i, 1)]} for q, i in RANKED.items()]
    ),
    "jsonl of objects": lines([{"qid": q, "ranked": [{"id": id} for id in ids]} for q, ids in RANKED.items()]),
    "dict": json.dumps({q: {id: 9 - n for n, id in enumerate(ids)} for q, ids in reversed(RANKED.items())}),
    "dict of lists": json.dumps(RANKED),
}


def scoring(*words: str | Path) -> list[str | Path]:
    """The words of `score` for files that are named by --run and --gold, or by --gold alone."""
    given = list(words)
    runs = []
    while "--run" in given:
        at = given.index("--run")
        runs.append(given[at + 1])
        del given[at : at + 2]
    if not runs:
        given.remove("--gold")
    return ["score", *runs[-1:], *given]


def table(folder: Path, *words: str | Path, code: int = 0) -> list[str]:
    """The lines of the report, without its conclusion."""
    done = recallbench(*scoring(*words), cwd=folder)
    assert done.returncode == code
    lines = done.stdout.splitlines()
    last = max((number for number, line in enumerate(lines) if not line), default=len(lines))
    return lines if "--format" in words else lines[:last]


def conclusion(folder: Path, *words: str | Path, code: int = 0) -> str:
    """The last line of what is printed."""
    done = recallbench(*scoring(*words), cwd=folder)
    assert done.returncode == code
    return done.stdout.splitlines()[-1]


def refused(folder: Path, *words: str, code: int = 2) -> str:
    done = recallbench(*scoring(*words), cwd=folder)
    assert done.returncode == code
    assert done.stdout == ""
    return done.stderr


def write_ranking_files(folder: Path) -> None:
    """Write a file of gold and run, and a better run."""
    rows = [{"query_id": q, "query": f"what of {q}?", "relevant": GOLD[q], "ranked": RANKED[q], "kind": KINDS[q]}
            for q in GOLD]  # fmt: skip
    write(folder, "gold.jsonl", lines(rows))
    write(folder, "best.json", json.dumps({q: [*ids, "x"] for q, ids in GOLD.items()}))
