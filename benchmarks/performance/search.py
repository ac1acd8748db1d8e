"""The cosine-only search phase of the reference store, against one unprepared query per round trip over TCP.

Both sides search the same rows: ten scopes of LoCoMo's sizes, 1982 questions, depth 50, 384 dimensions, random vectors
(exact search costs the same whatever they hold). Run: python benchmarks/performance/search.py
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import psycopg
from pgvector.psycopg import register_vector

from recallbench.stores.pgvector.pgvector import PgvectorStore
from recallbench.stores.pgvector.weights import parse_weights
from recallbench.stores.postgres.embedded import EmbeddedServer, new_password
from recallbench.stores.store import Item, Query
from row import Row, show

SCOPES = (19, 19, 32, 29, 29, 28, 31, 30, 25, 30)
QUESTIONS, DIMS, DEPTH, ROUNDS = 1982, 384, 50, 9
NAIVE = """SELECT id, 1 - (embedding <=> %s) AS score FROM segments WHERE scope = %s
           ORDER BY score DESC, id LIMIT %s"""


def rows() -> list[Row]:
    """Time the sides in turn; ratios are of each side's best, which other work on the machine disturbs least."""
    random = np.random.default_rng(42)
    queries = [
        Query(number % len(SCOPES), "", vector)
        for number, vector in enumerate(random.standard_normal((QUESTIONS, DIMS)).astype(np.float32))
    ]
    with EmbeddedServer(password=new_password()) as tcp:
        naive = _filled(PgvectorStore(tcp.dsn, parse_weights("cosine")))
        ours = {
            "private socket": _filled(PgvectorStore(EmbeddedServer(), parse_weights("cosine"))),
            "TCP": _filled(PgvectorStore(tcp.dsn, parse_weights("cosine"))),
        }
        try:
            with psycopg.connect(tcp.dsn, autocommit=True, prepare_threshold=None) as connection:
                register_vector(connection)
                # The table is the store's own, so that both sides search the same rows under the same index.
                schema = naive.schema
                connection.execute(f"SET search_path TO {schema}, public".encode())
                return _compared(connection, ours, queries)
        finally:
            for store in (naive, *ours.values()):
                store.close()


def _compared(connection: psycopg.Connection, ours: dict[str, PgvectorStore], queries: list[Query]) -> list[Row]:
    def by_round_trips() -> list[list[int]]:
        rankings = []
        for query in queries:
            cursor = connection.execute(NAIVE, (query.vector, query.scope, DEPTH), prepare=False)
            rankings.append([identity for identity, _ in cursor.fetchall()])
        return rankings

    def in_bulk(store: PgvectorStore) -> Callable[[], list[list[int]]]:
        return lambda: [[hit.id for hit in hits] for hits in store.search_many(queries, DEPTH)]

    sides = {"round trips": by_round_trips} | {name: in_bulk(store) for name, store in ours.items()}
    answers = {name: side() for name, side in sides.items()}
    if any(answer != answers["round trips"] for answer in answers.values()):
        raise AssertionError("the sides do not find the same, so their times can't be compared")
    seconds: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(ROUNDS):
        for name, side in sides.items():
            started = time.perf_counter()
            side()
            seconds[name].append(time.perf_counter() - started)
    table = []
    for name in ours:
        ratio = min(seconds["round trips"]) / min(seconds[name])
        table.append(
            Row(
                f"cosine-only search, {QUESTIONS} questions at depth {DEPTH}, over {name}",
                "at least 5 times faster than one unprepared query per round trip over TCP",
                f"{ratio:.1f} times faster",
                ratio >= 5,
            )
        )
    return table


def _filled(store: PgvectorStore) -> PgvectorStore:
    random = np.random.default_rng(7)
    store.prepare(DIMS)
    for scope, size in enumerate(SCOPES):
        items = [Item(100 * scope + position, scope, "", None, 0.5) for position in range(size)]
        store.ingest(items, random.standard_normal((size, DIMS)).astype(np.float32))
    store.ready()
    return store


if __name__ == "__main__":
    raise SystemExit(show(rows()))
