"""The cosines between candidates, and between candidates and their question, for many questions at once."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from recallbench.errors import InputError
from recallbench.retrieval.stages.candidates import Candidates, Ids, Scores
from recallbench.retrieval.stages.stage import QuestionBatch

PLACES = 9
"""Decimals of a cosine: whatever else is computed beside it, and in whatever order, moves it less."""
AT_ONCE = 1 << 22
"""Numbers of vectors that are gathered at a time: 32 MB."""


class Similarity:
    """The cosines of one batch. Questions that search one haystack share what they have in common."""

    def __init__(self, batch: QuestionBatch, candidates: Candidates) -> None:
        self._present = candidates.present
        known, places = np.unique(candidates.ids[self._present], return_inverse=True)
        self._units = _units(batch.memory.vectors(known.tolist()))
        self._rows: Ids = np.zeros(candidates.ids.shape, np.int64)
        """The row of each candidate's vector; that of another where there is none."""
        self._rows[self._present] = places
        self._batch = batch
        scopes = np.fromiter((query.scope for query in batch.queries), np.int64, len(batch))
        self._shared, self._single = _by_haystack(scopes, self._rows, self._present)

    def to_questions(self) -> Scores:
        """Return the cosine of each candidate to its question."""
        asked = _units(np.stack([_vector(self._batch, row) for row in range(len(self._batch))]))
        cosines = np.zeros(self._rows.shape)
        for questions, items, places in self._shared:
            product = np.round(asked[questions] @ self._units[items].T, PLACES)
            cosines[questions] = np.take_along_axis(product, places, 1)
        for questions in self._blocks():
            product = self._units[self._rows[questions]] @ asked[questions, :, None]
            cosines[questions] = np.round(product[:, :, 0], PLACES)
        return cosines

    def to_each_other(self) -> Scores:
        """Return the cosine of each candidate to each other one of its question."""
        width = self._rows.shape[1]
        cosines = np.empty((len(self._rows), width, width))
        for questions, items, places in self._shared:
            units = self._units[items]
            product = np.round(units @ units.T, PLACES)
            # The same as product[places[:, :, None], places[:, None, :]], in two thirds of the time.
            cosines[questions] = product.take(places[:, :, None] * len(items) + places[:, None, :], mode="clip")
        for questions in self._blocks():
            units = self._units[self._rows[questions]]
            cosines[questions] = np.round(units @ units.transpose(0, 2, 1), PLACES)
        return cosines

    def _blocks(self) -> list[Ids]:
        at_once = max(1, AT_ONCE // max(1, self._rows.shape[1] * self._units.shape[1]))
        return [self._single[start : start + at_once] for start in range(0, len(self._single), at_once)]


def _by_haystack(scopes: Ids, rows: Ids, present: npt.NDArray[np.bool_]) -> tuple[list[tuple[Ids, Ids, Ids]], Ids]:
    """Return the questions of each haystack with the items that they have and their places among these; the rest alone.

    A haystack's cosines are computed once where that is less than those of each of its questions.
    """
    order = np.argsort(scopes, kind="stable")
    starts = np.flatnonzero(np.diff(scopes[order], prepend=scopes[order[0]] - 1))
    shared, single = [], []
    for questions in np.split(order, starts[1:]):
        items = np.unique(rows[questions][present[questions]]) if len(questions) > 1 else np.empty(0, np.int64)
        if len(items) and len(items) ** 2 < len(questions) * rows.shape[1] ** 2:
            shared.append((questions, items, _within(rows[questions], items)))
        else:
            single.append(questions)
    return shared, np.concatenate(single) if single else np.empty(0, np.int64)


def _within(rows: Ids, items: Ids) -> Ids:
    # Where there is no candidate any item will do: what it gives is never looked at.
    within: Ids = np.minimum(np.searchsorted(items, rows), len(items) - 1)
    return within


def _units(vectors: npt.NDArray[np.float32]) -> Scores:
    wide = vectors.astype(np.float64)
    lengths = np.sqrt(np.einsum("ij,ij->i", wide, wide))[:, None]
    units: Scores = np.divide(wide, lengths, out=np.zeros_like(wide), where=lengths > 0)
    return units


def _vector(batch: QuestionBatch, row: int) -> npt.NDArray[np.float32]:
    vector = batch.queries[row].vector
    if vector is None:
        raise InputError(f"question `{batch.queries[row].text[:80]}` has no vector", expected="one from the encoder")
    return vector
