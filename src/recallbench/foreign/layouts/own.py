"""This tool's own folders, read by the same nouns: for comparing definitions, not for auditing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from recallbench.foreign.layouts.layout import Claim, Imported, ImportedQuestion, JsonFields, Layout, shown
from recallbench.reading import document, objects, parsed

ROWS, METRICS = "raw_retrievals.jsonl", "metrics.json"


def recognises(folder: Path) -> bool:
    """What `recallbench run` leaves, whole or not."""
    return (folder / ROWS).exists() and (folder / "manifest.json").exists()


def read(folder: Path) -> Imported:
    """Rankings to the depth of the run, and the figures of its metrics.json over all questions and by kind."""
    path = folder / METRICS
    stated = JsonFields(path, 1, parsed(document(path), path))
    retrieval = stated.fields.get("retrieval")
    depth = retrieval.get("depth") if isinstance(retrieval, dict) else None
    if isinstance(depth, bool) or not isinstance(depth, int) or depth < 1:
        raise stated.refusal("retrieval.depth", "a depth, 1 or more", shown(depth))
    corpus = stated.fields.get("corpus")
    name = corpus.get("name") if isinstance(corpus, dict) else ""
    rows = [JsonFields(folder / ROWS, line, fields) for line, fields in objects(folder / ROWS)]
    questions = tuple(map(_question, rows))
    facts = {name: stated.text(name) for name in ("dataset_sha256", "pgmnemo_version", "seed") if stated.text(name)}
    return Imported(
        NAME,
        folder,
        questions,
        _claims(stated),
        facts,
        (),
        depth,
        ROWS,
        str(name) if name else "",
        graded=any("grades" in row.fields for row in rows),
        short_depth=_short(stated, retrieval, questions),
    )


def _short(stated: JsonFields, retrieval: Any, questions: tuple[ImportedQuestion, ...]) -> int:
    """The depth of the shallower call; 0 where there was one call."""
    if not any(question.short is not None for question in questions):
        return 0
    calls = retrieval.get("calls")
    if not isinstance(calls, list) or len(calls) != 2 or not isinstance(calls[0], int) or calls[0] < 1:
        raise stated.refusal("retrieval.calls", "the depths of two calls, as rows keep two", shown(calls))
    if missing := next((question for question in questions if question.short is None), None):
        raise stated.refusal("retrieval.calls", "two calls in every row", f"one in that of {missing.id}")
    return int(calls[0])


def _question(row: JsonFields) -> ImportedQuestion:
    id = row.text("question_id")
    return ImportedQuestion(
        id=id,
        gold=row.ids("gold"),
        ranked=_hits(row, "hits"),
        scope=row.text("scope"),
        kinds={"kind": row.text("kind")} if row.text("kind") else {},
        abstention=row.fields.get("abstention") is True,
        denominators=frozenset(row.ids("denominators")),
        line=row.line,
        short=_hits(row, "hits_of_k_call") if row.fields.get("hits_of_k_call") is not None else None,
    )


def _hits(row: JsonFields, name: str) -> tuple[str, ...]:
    hits = row.fields.get(name)
    if not isinstance(hits, list) or not all(isinstance(hit, dict) and isinstance(hit.get("id"), str) for hit in hits):
        raise row.refusal(name, "a list of hits with ids", shown(hits))
    return tuple(hit["id"] for hit in hits)


def _claims(stated: JsonFields) -> tuple[Claim, ...]:
    tables = stated.fields.get("estimates")
    overall = tables.get("overall") if isinstance(tables, dict) else None
    if not isinstance(overall, list) or not all(isinstance(estimate, dict) for estimate in overall):
        raise stated.refusal("estimates.overall", "a list of estimates", shown(overall))
    return tuple(
        Claim(
            str(estimate.get("measure")),
            float(estimate["value"]),
            f"{METRICS} /estimates/overall",
            n=estimate.get("n"),
            decimals=9,
        )
        for estimate in overall
        if isinstance(estimate.get("value"), (int, float)) and not isinstance(estimate.get("value"), bool)
    )


NAME = "recallbench"
LAYOUT = Layout(NAME, "what `recallbench run` writes", recognises, read)
