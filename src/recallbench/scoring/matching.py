"""The order of a ranking, each segment once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from recallbench.retrieval import ranking


def order(hits: Iterable[tuple[int, float]]) -> list[int]:
    """Return positions by score descending, then position ascending, each once."""
    return list(ranking.sort_hits(list(hits))[0])


def distinct(positions: Sequence[int]) -> list[int]:
    """Return the positions in order, a repeated one at its first place only (clarification 6)."""
    return list(dict.fromkeys(positions))
