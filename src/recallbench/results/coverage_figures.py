"""The coverage in a result, from its rankings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from recallbench.results.metrics import CoveragePart, CoveredPart
from recallbench.retrieval.ranking import Ranking
from recallbench.retrieval.record import Retrieval
from recallbench.scoring.document_coverage import AskedSegments, Covered

KS = (1, 5, 10, 25, 50)
"""The depths that results tell of, as far as rankings reach; the whole depth is always one."""


def coverage_figures(retrieval: Retrieval, ks: Sequence[int] = KS) -> CoveragePart:
    """Return the coverage at each of these depths that the rankings reach, and at their whole depth."""
    questions = retrieval.questions
    asked = AskedSegments(
        [question.scope for question in questions], retrieval.candidates, [question.gold for question in questions]
    )
    calls, depth = retrieval.calls, retrieval.calls.depth
    depths = sorted({k for k in ks if k < depth} | {depth})
    shallow = [] if retrieval.short is None else [k for k in depths if k <= calls.k]
    deep = [k for k in depths if k not in shallow]

    def covered(rankings: Sequence[Ranking], ks: Sequence[int]) -> list[Covered]:
        return asked.covered([ranking.positions for ranking in rankings], ks) if ks else []

    found = covered(retrieval.short or (), shallow) + covered(retrieval.rankings, deep)
    control = found if retrieval.control is retrieval.rankings else covered(retrieval.control, depths)
    return CoveragePart(
        segments=asked.segments,
        gold=asked.gold,
        at=[
            CoveredPart.model_construct(
                **asdict(of_store), segments_bm25=of_control.segments_share, gold_bm25=of_control.gold_share
            )
            for of_store, of_control in zip(found, control, strict=True)
        ],
    )
