"""Stores that filter by time answer from what was visible, as if there was nothing else."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace

import pytest

from recallbench.stores.bm25 import BM25Store
from recallbench.stores.exact import ExactStore
from recallbench.stores.pgvector.pgvector import PgvectorStore
from recallbench.stores.pgvector.weights import parse_weights
from recallbench.stores.store import Hit, Item, Matrix, Query, Store
from stores.pgvector_corpus import DIMS, corpus

SIZE = 12
ITEMS, VECTORS, QUERIES = corpus(scopes=2, size=SIZE)


def answers(store: Store, items: Sequence[Item], vectors: Matrix, queries: Sequence[Query]) -> list[list[Hit]]:
    """Fill the store and return its answers."""
    store.prepare(DIMS)
    if any(query.visible is not None for query in queries):
        store.expect_time()
    for scope in dict.fromkeys(item.scope for item in items):
        rows = [row for row, item in enumerate(items) if item.scope == scope]
        store.ingest([items[row] for row in rows], vectors[rows])
    store.ready()
    return [list(hits) for hits in store.search_many(queries, 5)]


OPENED: Mapping[str, Callable[[str], Store]] = {
    "exact": lambda _: ExactStore(),
    "bm25": lambda _: BM25Store(),
    "pgvector, cosine": lambda dsn: PgvectorStore(dsn, parse_weights("cosine")),
    "pgvector": PgvectorStore,
}


@pytest.mark.parametrize("name", OPENED)
def test_what_a_query_can_not_see_changes_nothing(name: str, dsn: str) -> None:
    parts = {
        until: [replace(query, visible=range(1000 * query.scope, 1000 * query.scope + until)) for query in QUERIES]
        for until in (0, 7, SIZE)
    }
    with closing(OPENED[name](dsn)) as filtering:
        found = answers(filtering, ITEMS, VECTORS, [query for part in parts.values() for query in part])
    for until in parts:
        there = [row for row, item in enumerate(ITEMS) if item.id % 1000 < until]
        part, found = found[: len(QUERIES)], found[len(QUERIES) :]
        with closing(OPENED[name](dsn)) as smaller:
            assert part == answers(smaller, [ITEMS[row] for row in there], VECTORS[there], QUERIES)
        assert [len(hits) for hits in part] == [min(until, 5)] * len(QUERIES)
