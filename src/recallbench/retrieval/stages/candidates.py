"""The candidates of many questions at once, and what a stage may look up about them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Self

import numpy as np
import numpy.typing as npt

from recallbench.retrieval.ranking import sort_hits
from recallbench.stores.store import Hit, Item, Matrix

Ids = npt.NDArray[np.int64]
Scores = npt.NDArray[np.float64]
NO_ID = -1


@dataclass(frozen=True, slots=True)
class Candidates:
    """A list of candidates for each question, best first: row i belongs to question i."""

    ids: Ids
    """One row for each question, filled up with NO_ID behind its last candidate."""
    scores: Scores
    """In the places of `ids`; minus infinity where there is none."""
    sizes: Ids
    """How many candidates each question has."""

    @classmethod
    def of(cls, lists: Sequence[Sequence[tuple[int, float]]]) -> Self:
        """Return the candidates of lists of (id, score), which stand in order."""
        sizes = np.fromiter(map(len, lists), np.int64, len(lists))
        widest = int(sizes.max(initial=0))
        ids = np.full((len(lists), widest), NO_ID, np.int64)
        scores = np.full((len(lists), widest), -np.inf)
        filled = np.arange(widest) < sizes[:, None]
        if filled.any():
            flat = [hit for hits in lists for hit in hits]
            ids[filled] = [hit[0] for hit in flat]
            scores[filled] = [hit[1] for hit in flat]
        return cls(ids, scores, sizes)

    def __len__(self) -> int:
        return len(self.sizes)

    @property
    def present(self) -> npt.NDArray[np.bool_]:
        """Where there is a candidate."""
        present: npt.NDArray[np.bool_] = np.arange(self.ids.shape[1]) < self.sizes[:, None]
        return present

    def first(self, count: int) -> Self:
        """Return the first `count` candidates of each question."""
        if count >= self.ids.shape[1]:
            return self
        return type(self)(self.ids[:, :count], self.scores[:, :count], np.minimum(self.sizes, count))

    def settled(self) -> Self:
        """Return the candidates in the one order of rankings, in which ties stand by id and no id stands twice.

        What a store answers need not be: a stage that goes by ranks would hang on how it broke its ties.
        """
        ids, scores = self.ids, self.scores
        tied = (scores[:, 1:] == scores[:, :-1]) & (ids[:, 1:] < ids[:, :-1])
        wrong = (self.present[:, 1:] & ((scores[:, 1:] > scores[:, :-1]) | tied)).any(1)
        by_id = np.sort(ids, axis=1)
        wrong |= ((by_id[:, 1:] == by_id[:, :-1]) & (by_id[:, 1:] != NO_ID)).any(1)
        if not wrong.any():
            return self
        return type(self).of(
            [list(zip(*sort_hits(hits), strict=True)) if wrong[row] else hits for row, hits in enumerate(self.hits())]
        )

    def ids_of(self, row: int) -> list[int]:
        """Return the ids of one question."""
        ids: list[int] = self.ids[row, : self.sizes[row]].tolist()
        return ids

    def hits_of(self, row: int) -> list[Hit]:
        """Return the candidates of one question as a store returns them."""
        size = self.sizes[row]
        return list(map(Hit, self.ids[row, :size].tolist(), self.scores[row, :size].tolist()))

    def hits(self) -> Iterator[list[Hit]]:
        """Yield the candidates of each question as a store returns them."""
        rows = zip(self.ids.tolist(), self.scores.tolist(), self.sizes.tolist(), strict=True)
        for ids, scores, size in rows:
            # Not Hit(...): a named tuple's own way of being made takes three times as long.
            yield list(map(tuple.__new__, repeat(Hit), zip(ids[:size], scores[:size], strict=True)))


class Memory:
    """The items that a pipeline was given, for stages that look at more than ids and scores."""

    def __init__(self, *, texts: bool, vectors: bool) -> None:
        """Keep only what some stage asks for."""
        self._keeps_texts, self._keeps_vectors = texts, vectors
        self._texts: dict[int, str] = {}
        self._rows: dict[int, tuple[Matrix, int]] = {}
        self._ids: dict[int, list[int]] = {}

    def add(self, items: Sequence[Item], vectors: Matrix | None) -> None:
        """Keep these items; row i of `vectors` belongs to item i."""
        for row, item in enumerate(items):
            self._ids.setdefault(item.scope, []).append(item.id)
            if self._keeps_texts:
                self._texts[item.id] = item.text
            if self._keeps_vectors and vectors is not None:
                self._rows[item.id] = (vectors, row)

    def forget(self, scope: int) -> None:
        """Drop the items of one scope."""
        for id in self._ids.pop(scope, ()):
            self._texts.pop(id, None)
            self._rows.pop(id, None)

    def text(self, id: int) -> str:
        """Return the text of an item."""
        return self._texts[id]

    def vectors(self, ids: Sequence[int]) -> Matrix:
        """Return the vectors of these items, one row each, as the encoder made them."""
        return np.stack([matrix[row] for matrix, row in map(self._rows.__getitem__, ids)])
