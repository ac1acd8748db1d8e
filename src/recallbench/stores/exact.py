"""Exhaustive cosine search in memory: the yardstick of every vector store."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from recallbench.stores.statement import Statement, exactly
from recallbench.stores.store import Hit, Item, Matrix, Query, Store
from recallbench.stores.vectors import checked_questions, checked_rows

AT_ONCE = 256
SETTINGS = {"exact.similarity": "cosine", "exact.arithmetic": "float64"}
EVIDENCE = {"index": "none", "plan": "every item of the scope is compared"}


class ExactStore(Store):
    """Cosine in float64 over all items of a scope, ties by id."""

    name = "exact"
    summary: ClassVar[str] = "exhaustive cosine in memory"
    prefix_stable: bool = True
    filters_time: bool = True
    grows: bool = True
    one_scope_at_a_time: ClassVar[bool] = True

    @classmethod
    def states(cls, name: str, options: Mapping[str, Any]) -> tuple[Statement, ...]:
        version = r"recallbench-exact/1 \(numpy (?P<package_numpy>\S+)\)"
        return (Statement(version, exactly(SETTINGS), exactly(EVIDENCE)),)

    @classmethod
    def score_range(cls, options: Mapping[str, Any]) -> tuple[float, float]:
        return -1.0, 1.0

    def __init__(self) -> None:
        self._dims = 0
        self._scopes: dict[int, tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]] = {}

    def prepare(self, dims: int) -> None:
        self._dims = dims

    def ingest(self, items: Sequence[Item], vectors: Matrix | None) -> None:
        rows = _unit(checked_rows(items, vectors, self._dims))
        scopes = np.fromiter((item.scope for item in items), np.int64, len(items))
        ids = np.fromiter((item.id for item in items), np.int64, len(items))
        for scope in dict.fromkeys(scopes.tolist()):
            chosen = np.flatnonzero(scopes == scope)
            chosen = chosen[np.argsort(ids[chosen], kind="stable")]
            # All of them in order, as a haystack comes, are not copied.
            whole = np.array_equal(chosen, np.arange(len(ids)))
            own, own_rows = (ids, rows) if whole else (ids[chosen], rows[chosen])
            if scope in self._scopes:
                there, their_rows = self._scopes[scope]
                own, own_rows = np.concatenate([there, own]), np.concatenate([their_rows, own_rows])
            self._scopes[scope] = (own, own_rows)

    def search(self, query: Query, k: int) -> list[Hit]:
        return next(self.search_many([query], k))

    def search_many(self, queries: Sequence[Query], k: int) -> Iterator[list[Hit]]:
        for start in range(0, len(queries), AT_ONCE):
            block = queries[start : start + AT_ONCE]
            for query, vector in zip(block, _unit(checked_questions(block, self._dims)), strict=True):
                ids, rows = self._scopes.get(query.scope, _EMPTY)
                if query.visible is not None:
                    until = np.searchsorted(ids, query.visible.stop)
                    ids, rows = ids[:until], rows[:until]
                # Not a BLAS product: at block edges BLAS adds in another order, and equal vectors could differ.
                scores = np.einsum("ij,j->i", rows, vector) if len(ids) else np.empty(0)
                best = np.argsort(-scores, kind="stable")[:k]
                yield list(map(Hit, ids[best].tolist(), scores[best].tolist()))

    @property
    def one_caller(self) -> str:
        return ""

    def another_caller(self) -> ExactStore:
        # A search writes nothing, so only the table of the scopes is the handle's own.
        handle = copy(self)
        handle._scopes = dict(self._scopes)
        return handle

    def forget(self, scope: int) -> None:
        self._scopes.pop(scope, None)

    def version(self) -> str:
        return f"recallbench-exact/1 (numpy {np.__version__})"

    def settings(self) -> Mapping[str, str]:
        return SETTINGS

    def evidence(self) -> Mapping[str, str]:
        return EVIDENCE

    def stored_bytes(self) -> Mapping[str, int]:
        return {
            "ids": sum(ids.nbytes for ids, _ in self._scopes.values()),
            "vectors": sum(rows.nbytes for _, rows in self._scopes.values()),
        }

    def close(self) -> None:
        self._scopes.clear()


_EMPTY = (np.empty(0, np.int64), np.empty((0, 0), np.float64))


def _unit(rows: Matrix) -> npt.NDArray[np.float64]:
    wide = rows.astype(np.float64)
    lengths: npt.NDArray[np.float64] = np.sqrt(np.einsum("ij,ij->i", wide, wide))
    wide /= lengths[:, None]
    return wide
