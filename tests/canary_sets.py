"""A labelled set to draw canaries from, and a log of production."""

from __future__ import annotations

import json
from pathlib import Path

from commandline import recallbench
from labelled_sets import beir, jsonl

KINDS = {"fact": 80, "date": 40}
"""Questions of each tenant by kind; every fifth has the words of four other documents."""


def canary_set(folder: Path) -> Path:
    """Two tenants with 120 questions each, every one answered by a document of its own."""
    documents, queries, judged = [], [], ["query-id\tcorpus-id\tscore"]
    for tenant in ("acme", "bolt"):
        for kind, count in KINDS.items():
            for i in range(count):
                name = f"{tenant}-{kind}-{i}"
                documents.append({"_id": f"d-{name}", "tenant": tenant, "text": f"word{name.replace('-', '')} is said"})
                asked = [i] if i % 5 else [i + 1, i + 2, i + 3, i + 4]
                text = "what of " + " ".join(f"word{tenant}{kind}{number}" for number in asked)
                queries.append({"_id": name, "tenant": tenant, "kind": kind, "text": text, "owner": "team"})
                judged.append(f"{name}\td-{name}\t1")
    return beir(folder, documents, queries, test="\n".join(judged) + "\n")


def production_log(path: Path, acme_facts: int = 50, day: str = "2026-01-01", prefix: str = "asked") -> Path:
    """A hundred recalls: so many facts of acme, 10 facts of bolt, and dates of acme for the rest."""
    recalls = [("fact", "acme")] * acme_facts + [("fact", "bolt")] * 10
    recalls += [("date", "acme")] * (100 - len(recalls))
    jsonl(
        path,
        [
            {"query": f"{prefix} {i}", "ids": ["d1"], "kind": kind, "tenant": tenant, "at": f"{day}T09:00:00"}
            for i, (kind, tenant) in enumerate(recalls)
        ],
    )
    return path


def record_of(folder: Path) -> dict:
    return json.loads((folder / "canary.json").read_text("utf-8"))


def aged(folder: Path, drawn: str, on: str | None) -> None:
    """Set back the day on which a canary was drawn."""
    record = record_of(folder)
    record["drawn"] = drawn
    record["stale_after"] |= {"on": on}
    (folder / "canary.json").write_text(json.dumps(record))


def drawn_workspace(folder: Path) -> Path:
    """A set, a log, a result over the set, a canary by all three, and a result over that."""
    canary_set(folder / "team")
    production_log(folder / "log.jsonl")
    evaluate(folder, "team", "base")
    words = ("--n", "100", "--log", "log.jsonl", "--result", "base", "--stale-after", "30d", "--folder", "few")
    assert recallbench("canary", "team", *words, cwd=folder).returncode == 0
    evaluate(folder, "few", "measured")
    return folder


def evaluate(folder: Path, name: str, result: str) -> str:
    done = recallbench("evaluate", name, "--store", "bm25", "--folder", result, "--quiet", cwd=folder)
    assert done.returncode == 0
    return done.stdout


def refused(folder: Path, *words: str | Path) -> str:
    done = recallbench("canary", *words, cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    return done.stderr
