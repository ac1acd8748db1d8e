"""This tool's own folders, read by the same nouns: for comparing definitions, not for auditing."""

from __future__ import annotations

from pathlib import Path

from recallbench.reading import document, objects, parsed
from recallbench.results.layouts.layout import Asked, Claim, Imported, Layout, Row, shown

ROWS, METRICS = "raw_retrievals.jsonl", "metrics.json"


def recognises(folder: Path) -> bool:
    """What `recallbench run` leaves, whole or not."""
    return (folder / ROWS).exists() and (folder / "manifest.json").exists()


def read(folder: Path) -> Imported:
    """Rankings to the depth of the run, and the figures of its metrics.json over all questions and by kind."""
    path = folder / METRICS
    stated = Row(path, 1, parsed(document(path), path))
    retrieval = stated.fields.get("retrieval")
    depth = retrieval.get("depth") if isinstance(retrieval, dict) else None
    if isinstance(depth, bool) or not isinstance(depth, int) or depth < 1:
        raise stated.refusal("retrieval.depth", "a depth, 1 or more", shown(depth))
    corpus = stated.fields.get("corpus")
    name = corpus.get("name") if isinstance(corpus, dict) else ""
    questions = tuple(_asked(Row(folder / ROWS, line, fields)) for line, fields in objects(folder / ROWS))
    facts = {name: stated.text(name) for name in ("dataset_sha256", "pgmnemo_version", "seed") if stated.text(name)}
    return Imported(NAME, folder, questions, _claims(stated), facts, (), depth, ROWS, str(name) if name else "")


def _asked(row: Row) -> Asked:
    hits = row.fields.get("hits")
    if not isinstance(hits, list) or not all(isinstance(hit, dict) and isinstance(hit.get("id"), str) for hit in hits):
        raise row.refusal("hits", "a list of hits with ids", shown(hits))
    id = row.text("question_id")
    return Asked(
        id=id,
        gold=row.ids("gold"),
        ranked=tuple(hit["id"] for hit in hits),
        scope=row.text("scope"),
        kinds={"kind": row.text("kind")} if row.text("kind") else {},
        abstention=row.fields.get("abstention") is True,
        denominators=frozenset(row.ids("denominators")),
        line=row.line,
    )


def _claims(stated: Row) -> tuple[Claim, ...]:
    tables = stated.fields.get("estimates")
    overall = tables.get("overall") if isinstance(tables, dict) else None
    if not isinstance(overall, list) or not all(isinstance(one, dict) for one in overall):
        raise stated.refusal("estimates.overall", "a list of estimates", shown(overall))
    return tuple(
        Claim(str(one.get("measure")), float(one["value"]), f"{METRICS} /estimates/overall", n=one.get("n"), decimals=9)
        for one in overall
        if isinstance(one.get("value"), (int, float)) and not isinstance(one.get("value"), bool)
    )


NAME = "recallbench"
LAYOUT = Layout(NAME, "what `recallbench run` writes", recognises, read)
