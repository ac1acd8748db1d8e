"""This tool's own folders as a layout: for comparing definitions, not for the audit."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from recallbench.errors import InputError
from recallbench.foreign.layouts.layout import Claim, Imported, ImportedQuestion, Layout
from recallbench.results.metrics import OVERALL, Metrics
from recallbench.results.result import open_result
from recallbench.results.rows import NAME as ROWS
from recallbench.results.rows import Row


def recognises(folder: Path) -> bool:
    """Return whether `recallbench run` wrote the folder, complete or not."""
    return (folder / ROWS).exists() and (folder / "manifest.json").exists()


def read(folder: Path) -> Imported:
    """Return rankings to the depth of the run, and the figures of its metrics.json over all questions."""
    result = open_result(folder)
    metrics, rows = result.metrics, result.rows()
    facts = {
        "dataset_sha256": metrics.dataset_sha256,
        "pgmnemo_version": metrics.pgmnemo_version or "",
        "seed": "" if metrics.seed is None else str(metrics.seed),
    }
    return Imported(
        NAME,
        folder,
        tuple(map(_question, rows)),
        tuple(
            Claim(estimate.measure, estimate.value, "metrics.json /estimates/overall", n=estimate.n, decimals=9)
            for estimate in metrics.estimates.get(OVERALL, [])
            if estimate.value is not None
        ),
        {name: fact for name, fact in facts.items() if fact},
        (),
        metrics.retrieval.depth,
        ROWS,
        metrics.corpus.name,
        graded=any(row.grades for row in rows),
        short_depth=_short_depth(folder, metrics, rows),
    )


def _short_depth(folder: Path, metrics: Metrics, rows: Sequence[Row]) -> int:
    """Return the depth of the shallower of two calls; 0 where there was one call."""
    short = [row.hits_of_k_call is not None for row in rows]
    calls = metrics.retrieval.calls
    if not any(short):
        return 0
    if len(calls) != 2 or calls[0] < 1 or not all(short):
        raise InputError(
            f"{folder}: rows and metrics.json differ in how often the store was called",
            expected="two depths in retrieval.calls, and the hits of both calls in every row",
            found=f"retrieval.calls {calls}, and {sum(short)} of {len(rows)} rows with the hits of two calls",
            remedy="get the folder again from where it was made",
        )
    return calls[0]


def _question(row: Row) -> ImportedQuestion:
    return ImportedQuestion(
        id=row.question_id,
        gold=tuple(row.gold),
        ranked=tuple(hit.id for hit in row.hits),
        scope=row.scope,
        kinds={"kind": row.kind} if row.kind else {},
        abstention=row.abstention,
        denominators=frozenset(row.denominators),
        short=None if row.hits_of_k_call is None else tuple(hit.id for hit in row.hits_of_k_call),
    )


NAME = "recallbench"
LAYOUT = Layout(NAME, "what `recallbench run` writes", recognises, read)
