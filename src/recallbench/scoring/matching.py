"""Which place in a ranking a segment holds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from recallbench.retrieval import ranking


def order(hits: Iterable[tuple[int, float]]) -> list[int]:
    """Positions by score descending, then position ascending, each once: the ranking rule applied to bare pairs."""
    return list(ranking.sort_hits(list(hits))[0])


def distinct(positions: Sequence[int]) -> list[int]:
    """The positions in order, a repeated one at its first place only (clarification 6)."""
    return list(dict.fromkeys(positions))
