"""A few segments in the stand-in for pgmnemo."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import psycopg

from recallbench.stores.exact import ExactStore
from recallbench.stores.pgmnemo.pgmnemo import PgmnemoStore
from recallbench.stores.store import Hit, Item, Query, Store

DIMS = 24
SIZE = 17
WORDS = ("garden", "guitar", "Lisbon", "marathon", "bakery", "storm")
ITEMS = [
    Item(1000 * scope + position, scope, f"We talked about the {WORDS[position % 6]}.", None, 0.5)
    for scope in (0, 1)
    for position in range(SIZE)
]
_random = np.random.default_rng(5)
VECTORS = _random.standard_normal((len(ITEMS), DIMS)).astype(np.float32)
QUERIES = [
    Query(turn % 2, "What happened there?", row, None)
    for turn, row in enumerate(_random.standard_normal((140, DIMS)).astype(np.float32))
]
"""More of each scope than one statement takes."""


@contextmanager
def filled(
    dsn: str, function: str = "recall_lessons", items: Sequence[Item] = ITEMS, dates="constant"
) -> Iterator[PgmnemoStore]:
    store = PgmnemoStore(dsn, function, dates)
    try:
        store.prepare(DIMS)
        fill(store, items)
        yield store
    finally:
        store.close()


def fill(store: Store, items: Sequence[Item] = ITEMS) -> None:
    for scope in dict.fromkeys(item.scope for item in items):
        rows = [row for row, item in enumerate(items) if item.scope == scope]
        store.ingest([items[row] for row in rows], VECTORS[rows])
    store.ready()


def ids(hits: Sequence[Hit]) -> list[int]:
    return [hit.id for hit in hits]


def by_cosine(queries: Sequence[Query], k: int) -> list[list[int]]:
    store = ExactStore()
    store.prepare(DIMS)
    answers: dict[int, list[int]] = {}
    for scope in (0, 1):
        rows = [row for row, item in enumerate(ITEMS) if item.scope == scope]
        store.ingest([ITEMS[row] for row in rows], VECTORS[rows])
        places = [i for i, query in enumerate(queries) if query.scope == scope]
        for i, hits in zip(places, store.search_many([queries[i] for i in places], k), strict=True):
            answers[i] = ids(hits)
    return [answers[i] for i in range(len(queries))]


def lessons(dsn: str) -> int:
    with psycopg.connect(dsn) as connection:
        row = connection.execute("SELECT count(*) FROM pgmnemo.agent_lesson").fetchone()
    assert row is not None
    return row[0]
