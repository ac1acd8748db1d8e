"""Rankings of which only the hits are told: what many systems find of the same questions."""

from __future__ import annotations

from collections.abc import Sequence

from recallbench.results.rankings import Rankings
from recallbench.scoring.judgement import judge

QUESTIONS = 40


def rankings(hits: Sequence[bool], gold: int = 0) -> Rankings:
    """Questions over two segments each, of which one is gold; a hit has it first."""
    ranked = [[gold, 1 - gold] if hit else [1 - gold, gold] for hit in hits]
    golds = [frozenset({gold})] * len(hits)
    return Rankings(
        origin="given",
        questions=tuple(f"q{i}" for i in range(len(hits))),
        clusters=("",) * len(hits),
        gold=tuple(golds),
        calls=(judge(ranked, golds, [2] * len(hits), 2),),
        kinds=("",) * len(hits),
        gold_ids=tuple((f"s/{gold}",) for _ in hits),
        hit_ids=(tuple(tuple(f"s/{place}" for place in places) for places in ranked),),
    )


def hits(count: int) -> list[bool]:
    """Questions of which so many are hit, the first ones."""
    return [i < count for i in range(QUESTIONS)]
