"""The coverage of a result, as a table and in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recallbench.reports.cells import share
from recallbench.reports.table import Table

if TYPE_CHECKING:  # pydantic takes long to import, and reports of one's own cases do without
    from recallbench.results.metrics import CoveragePart

READING = (
    "A segment is *retrieved* at k where at least one question has it among its first k hits, gold is *reached* where a"
    " question that it answers has it there.",
    "Gold that is not reached at the whole depth is beyond any reordering of the hits.",
)
"""How the table is read, a sentence each, in Markdown."""


def coverage_table(coverage: CoveragePart) -> Table:
    """Return a row for each depth: segments that any question retrieved, and gold that was reached."""
    rows = [
        (
            str(at.k),
            f"{at.segments} of {coverage.segments} ({share(at.segments_share)})",
            *map(share, (at.segments_chance, at.segments_ceiling, at.segments_bm25)),
            f"{at.gold} of {coverage.gold} ({share(at.gold_share)})",
            *map(share, (at.gold_chance, at.gold_bm25)),
        )
        for at in coverage.at
    ]
    head = ("k", "segments retrieved", "chance", "ceiling", "BM25", "gold reached", "chance for gold", "BM25 for gold")
    return Table(head, rows, caption="Over all questions that were asked")


def coverage_sentence(coverage: CoveragePart, k: int) -> str:
    """Return the coverage at k, which is one of its depths, and at the whole depth."""
    near = next(at for at in coverage.at if at.k == k)
    deep = coverage.at[-1]
    return (
        f"coverage: {near.segments} of {coverage.segments} documents ({share(near.segments_share)}) came back among"
        f" the first {k} of at least one query; {deep.gold} of {coverage.gold} relevant ones"
        f" ({share(deep.gold_share)}) among the first {deep.k} of one that they answer"
    )
