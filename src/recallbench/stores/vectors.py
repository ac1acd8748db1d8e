"""The checks that stores make of what they are filled with and asked: vectors, importances."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from recallbench.errors import InputError
from recallbench.escaping.terminal import shortened
from recallbench.stores.store import Item, Matrix, Query, Vector

REMEDY = "recallbench run … with another embedder, or clear the embedding cache if it was damaged"


def checked_rows(items: Sequence[Item], vectors: Matrix | None, dims: int) -> Matrix:
    """The vectors of `items`, one finite non-zero row of `dims` numbers each; raises InputError otherwise."""
    shape = None if vectors is None else vectors.shape
    if vectors is None or shape != (len(items), dims):
        raise InputError(
            "the vectors don't fit the segments",
            expected=f"{len(items)} vectors of {dims} numbers",
            found="none" if shape is None else " x ".join(map(str, shape)),
            remedy=REMEDY,
        )
    for row, fault in _faults(vectors):
        item = items[row]
        raise _incomparable(f"the vector of segment {item.id} (scope {item.scope})", fault)
    return vectors


def check_importances(items: Sequence[Item]) -> None:
    """Raise InputError for an item whose importance is none."""
    for item in items:
        if not 0 <= item.importance <= 1:
            raise InputError(
                f"segment {item.id} (scope {item.scope}) has an impossible importance",
                expected="a number from 0 to 1",
                found=str(item.importance),
            )


def checked_questions(queries: Sequence[Query], dims: int) -> Matrix:
    """The vectors of `queries` as one matrix; raises InputError when one can't be searched with."""
    rows: list[Vector] = []
    for query in queries:
        if query.vector is None or query.vector.shape != (dims,):
            raise InputError(
                f"the question `{shortened(query.text)}` has a vector of the wrong size",
                expected=f"{dims} numbers, as the segments have",
                found="no vector" if query.vector is None else " x ".join(map(str, query.vector.shape)),
                remedy=REMEDY,
            )
        rows.append(query.vector)
    matrix: Matrix = np.asarray(rows, np.float32).reshape(len(rows), dims)
    for row, fault in _faults(matrix):
        raise _incomparable(f"the vector of the question `{shortened(queries[row].text)}`", fault)
    return matrix


def _faults(matrix: Matrix) -> list[tuple[int, str]]:
    squares = np.einsum("ij,ij->i", matrix, matrix, dtype=np.float64)
    finite = np.isfinite(squares)
    rows = np.flatnonzero(~finite | (squares == 0))
    return [(int(row), "only zeros" if finite[row] else "NaN or infinity") for row in rows]


def _incomparable(whose: str, fault: str) -> InputError:
    return InputError(
        f"{whose} can't be compared by cosine", expected="finite numbers, not all zero", found=fault, remedy=REMEDY
    )
