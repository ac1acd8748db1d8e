"""Kept vectors held against new ones: which are embedded again before any of their kind is used, and what follows."""

from __future__ import annotations

from bisect import insort
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from recallbench.embedding.embedder import Embedded
from recallbench.embedding.proof import difference
from recallbench.errors import InputError

SIZE = 8


@dataclass(order=True, frozen=True, slots=True)
class Ticket:
    """A kept row that takes part."""

    lot: bytes
    row: int
    position: int = field(compare=False)
    text: str = field(compare=False)


@dataclass(slots=True)
class Draw:
    """The 8 rows with the lowest lots, or all where there are fewer, whatever the order they come in.

    A lot is the keyed hash of the row, under the user's own key. So a repeat draws the same rows, and whoever forges
    rows can neither know which will be drawn nor learn it by trying: with a seed that all the world knows, the forger
    would leave the 8 that it draws alone.
    """

    rows: set[int] = field(default_factory=set)
    """All that took part, however often."""
    drawn: list[Ticket] = field(default_factory=list)

    def offer(self, ticket: Ticket) -> None:
        """Take part; once is enough."""
        if ticket.row in self.rows:
            return
        self.rows.add(ticket.row)
        insort(self.drawn, ticket)
        del self.drawn[SIZE:]


def worst_cosine(kept: Embedded, made: Embedded, folder: Path, whose: str) -> float:
    """The lowest cosine between vectors kept in `folder` and the same texts' vectors made now.

    Raises InputError where they differ by more than batches and backends explain, or were told apart in length.
    """
    found = difference(kept.vectors, made.vectors)
    miscounted = int(np.count_nonzero((kept.tokens != made.tokens) | (kept.cut != made.cut)))
    if found.tolerable and not miscounted:
        return found.cosine
    counts = f"; {miscounted} with other token counts or cuts" if miscounted else ""
    raise InputError(
        f"vectors in the cache are not the encoder's: {folder}",
        expected=f"what it gives for the same texts now, in each of {len(kept.tokens)} drawn from {whose}",
        found=f"a cosine of {found.cosine:.6f} and lengths {found.length:.1e} apart in the worst{counts}",
        remedy=f"none of it was used; delete {folder}, which is only a cache, or name another one with --cache-dir, "
        "and they are computed anew; if others can write there, ask who did",
    )
