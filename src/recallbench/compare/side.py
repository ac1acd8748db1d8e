"""One of the two that are compared, whether a result folder or a TREC run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from recallbench.reports.comparison import SidePart
from recallbench.results.rankings import Rankings
from recallbench.scoring.measures.measure import Measure
from recallbench.scoring.measures.registry import PRIMARY, parse

MEASURES: tuple[Measure, ...] = (
    *PRIMARY,
    *map(parse, ("recall_any@1", "recall_any@5", "recall_frac@10", "recall_all@10", "precision@10", "ndcg@10")),
)
"""What is compared unless other measures are asked for: the primary ones first."""


@dataclass(frozen=True, slots=True)
class Words:
    """What was asked and what the segments say, as far as it is known."""

    questions: Mapping[str, str] = field(default_factory=dict)
    segments: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """Its rankings, and what is said of where they are from."""

    part: SidePart
    rankings: Rankings
    notes: tuple[str, ...]
    words: Callable[[Sequence[int]], Words]
    """What is known of the words of these questions and of all segments that they show."""
    abilities: tuple[str, ...] = ()
    """What each question asks for, where the corpus rolls its kinds up into abilities."""
