"""The candidates of several lists in one pool: what each list gives to an item, summed by item."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from recallbench.retrieval.stages.candidates import NO_ID, Candidates, Ids, Scores

_LAST = np.iinfo(np.int64).max
"""Sorts what is no candidate behind every id."""
_Number = TypeVar("_Number", np.int64, np.float64)


class Pool(NamedTuple):
    """Every item that stands in one list at least: row i belongs to question i, ids ascend."""

    ids: Ids
    """Filled up with NO_ID behind the last."""
    sums: Scores
    """What the lists give to each item."""
    counts: Ids
    """In how many lists each item stands."""
    sizes: Ids


def pooled(questions: int, lists: Sequence[Candidates], given: Sequence[Scores]) -> Pool:
    """Return the items of lists for so many questions; `given` is what each list gives to its candidates.

    An item's sum does not depend on the order of the lists, not even in its last digit.
    """
    none = np.empty((questions, 0))
    present = np.concatenate([none.astype(bool), *(candidates.present for candidates in lists)], axis=1)
    ids = np.concatenate([none.astype(np.int64), *(candidates.ids for candidates in lists)], axis=1)
    keys = np.where(present, ids, _LAST)
    values = np.where(present, np.concatenate([none, *given], axis=1), 0.0)
    # Two numbers have one sum in either order; more are added from the lowest up.
    order = np.argsort(keys, axis=1, kind="stable") if len(lists) <= 2 else np.lexsort((values, keys))
    keys = np.take_along_axis(keys, order, 1)
    values = np.take_along_axis(values, order, 1)
    starts = np.ones(keys.shape, bool)
    starts[:, 1:] = keys[:, 1:] != keys[:, :-1]
    places = np.flatnonzero(starts)
    real = keys.ravel()[places] != _LAST
    sums = np.add.reduceat(values.ravel(), places) if len(places) else np.empty(0)
    sizes = (starts & (keys != _LAST)).sum(1)
    filled = np.arange(sizes.max(initial=0)) < sizes[:, None]
    return Pool(
        _in_rows(keys.ravel()[places][real], filled, NO_ID),
        _in_rows(sums[real], filled, 0),
        _in_rows(np.diff(places, append=keys.size)[real], filled, 0),
        sizes,
    )


def ranked(ids: Ids, scores: Scores, sizes: Ids) -> Candidates:
    """Return candidates by score descending, then id ascending; what stands behind a row's size is no candidate."""
    absent = np.arange(ids.shape[1]) >= sizes[:, None]
    scores = np.where(absent, -np.inf, scores)
    order = np.lexsort((np.where(absent, _LAST, ids), -scores))
    return Candidates(np.take_along_axis(ids, order, 1), np.take_along_axis(scores, order, 1), sizes)


def _in_rows(values: npt.NDArray[_Number], filled: npt.NDArray[np.bool_], otherwise: int) -> npt.NDArray[_Number]:
    rows = np.full(filled.shape, otherwise, values.dtype)
    rows[filled] = values
    return rows
