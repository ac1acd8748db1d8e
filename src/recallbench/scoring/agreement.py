"""The agreement between two calls to the same store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from recallbench.scoring.matching import distinct


@dataclass(frozen=True, slots=True)
class Agreement:
    """The agreement of the first `depth` hits of two rankings, over n questions."""

    depth: int
    n: int
    identical: float | None
    """The share of questions with the same segments in the same order."""
    overlap: float | None
    """The mean share of segments that both lists hold, of the longer list; two empty lists agree."""


def agreement(first: Sequence[Sequence[int]], second: Sequence[Sequence[int]], depth: int = 10) -> Agreement:
    """Compare two rankings of each question, as a k=10 and a k=50 call return them."""
    if len(first) != len(second):
        raise ValueError(f"{len(first)} rankings against {len(second)}")
    n = len(first)
    if n == 0:
        return Agreement(depth, 0, None, None)
    same, shared = 0, 0.0
    for ranking, other in zip(first, second, strict=True):
        a, b = distinct(ranking)[:depth], distinct(other)[:depth]
        same += a == b
        shared += len(set(a) & set(b)) / max(len(a), len(b)) if a or b else 1.0
    return Agreement(depth, n, same / n, shared / n)
