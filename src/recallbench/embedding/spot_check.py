"""The spot check: some cached vectors are embedded again before any of their kind is used, and must agree."""

from __future__ import annotations

from bisect import insort
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from recallbench.embedding.embedder import Embeddings
from recallbench.embedding.vector_agreement import Difference, vector_difference
from recallbench.errors import InputError

ROWS_CHECKED = 8


@dataclass(order=True, frozen=True, slots=True)
class CachedText:
    """A text whose vector is cached, ordered by the seal of its row."""

    seal: bytes
    row: int
    position: int = field(compare=False)
    text: str = field(compare=False)


@dataclass(slots=True)
class SpotCheck:
    """The rows with the lowest seals, or all where there are fewer, whatever the order they come in.

    A seal is the keyed hash of the row, under the user's own key. So a repeat draws the same rows, and whoever forges
    rows can neither know which will be drawn nor learn it by trying: with a seed that all the world knows, the forger
    would leave the 8 that it draws alone.
    """

    most: int = ROWS_CHECKED
    """How many are drawn."""
    rows: set[int] = field(default_factory=set)
    """The rows of all texts that were offered."""
    drawn: list[CachedText] = field(default_factory=list)

    def offer(self, text: CachedText) -> None:
        """Let a row take part in the draw; once is enough."""
        if text.row in self.rows:
            return
        self.rows.add(text.row)
        insort(self.drawn, text)
        del self.drawn[self.most :]


def worst_cosine(
    cached: Embeddings, computed: Embeddings, folder: Path, population: str, tolerated: Difference
) -> float:
    """Return the lowest cosine between vectors cached in `folder` and those computed now for the same texts.

    Raises InputError where they differ by more than batches and engines explain, or in token count or cut.
    `population` says in words what the texts were drawn from.
    """
    cosine, fault = difference_from(computed, cached, tolerated)
    if not fault:
        return cosine
    raise InputError(
        f"vectors in the cache are not the encoder's: {folder}",
        expected=f"what it gives for the same texts now, in each of {len(cached.tokens)} drawn from {population}",
        found=fault,
        remedy=f"none of it was used; delete {folder}, which is only a cache, or name another one with --cache-dir, "
        "and they are computed anew; if others can write there, ask who did",
    )


def difference_from(computed: Embeddings, kept: Embeddings, tolerated: Difference) -> tuple[float, str]:
    """Return the lowest cosine between kept vectors and those computed now for the same texts, and how they differ.

    The words are empty where they differ by no more than is tolerated, and in neither token count nor cut.
    """
    difference = vector_difference(kept.vectors, computed.vectors)
    miscounted = int(np.count_nonzero((kept.tokens != computed.tokens) | (kept.cut != computed.cut)))
    if difference.within(tolerated) and not miscounted:
        return difference.cosine, ""
    counts = f"; {miscounted} with other token counts or cuts" if miscounted else ""
    words = f"a cosine of {difference.cosine:.6f} and lengths {difference.length:.1e} apart in the worst{counts}"
    return difference.cosine, words
