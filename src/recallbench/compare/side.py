"""One side of a comparison: a result folder or a TREC run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from recallbench.reports.comparison import SidePart
from recallbench.results.known_texts import KnownTexts
from recallbench.results.rankings import Rankings
from recallbench.scoring.measures.measure import Measure
from recallbench.scoring.measures.registry import PRIMARY, parse

MEASURES: tuple[Measure, ...] = (
    *PRIMARY,
    *map(parse, ("recall_any@1", "recall_any@5", "recall_frac@10", "recall_all@10", "precision@10", "ndcg@10")),
)
"""The measures compared by default, the primary ones first."""


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """One side of a comparison: its rankings and their origin."""

    part: SidePart
    rankings: Rankings
    notes: tuple[str, ...]
    texts: Callable[[Sequence[int]], KnownTexts]
    """Returns the texts of these questions, and of the segments in their rankings."""
    abilities: tuple[str, ...] = ()
    """The ability of each question, where the corpus has abilities."""
