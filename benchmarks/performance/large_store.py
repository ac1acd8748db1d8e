"""A store of size: 250,000 segments x 1024 through COPY, an HNSW built in parallel afterwards, 1,000 scoped queries.

Beside it in the same run: row-by-row inserts of a sample, exact search by the server, and exact search in this process,
which is also what recall is held against. What of the segments is real says `large_corpus.py`.

Run: python benchmarks/performance/large_store.py [segments]    (with LONGMEMEVAL_DATA_DIR; 250,000 take ten minutes,
4 GB of memory and 6 GB of disk). Prints a table of TOML, for scripts/scaling/measured.toml.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import psycopg
from pgvector.psycopg import register_vector

from large_corpus import DIMS, LargeCorpus
from memory import corpus
from recallbench.embedding.machine import cpu_model
from recallbench.stores.exact import ExactStore
from recallbench.stores.pgvector.index_choice import EXACT_SEARCH, IndexChoice
from recallbench.stores.pgvector.pgvector import PgvectorStore
from recallbench.stores.pgvector.statements import sql
from recallbench.stores.pgvector.vector_index import NAME, OUTGROWN
from recallbench.stores.pgvector.weights import parse_weights
from recallbench.stores.postgres.embedded import EmbeddedServer
from recallbench.stores.store import Query

SEGMENTS, SCOPES, K = 250_000, 1_000, 10
ROW_BY_ROW = 5_000
"""Rows that are inserted one by one, at most."""
OUTGROWING = 25_000
"""Rows up to which the index is built again in too little memory."""
WIDTHS = (10, 40, 100, 200, 400)
"""Each `ef_search`."""
NEAREST = f"SELECT id FROM segments ORDER BY embedding <=> %s LIMIT {K}"
SLOW = 20
"""Of so many questions one is asked where an answer takes long."""
TOGETHER = 20
"""Scopes that are compared at a time."""
INSERT = "INSERT INTO segments (scope, id, importance, text, embedding) VALUES (%s, %s, %s, %s, %s)"
Figures = dict[str, Any]
Answers = list[list[int]]
T = TypeVar("T")


def measure(file: Path, segments: int) -> Iterator[Figures]:
    """Yield the figures of one run as they come, by the names that scripts/scaling/measured.toml has."""
    large = LargeCorpus(file, SCOPES, segments // SCOPES)
    yield {
        "command": f".venv/bin/python benchmarks/performance/large_store.py {segments}",
        "processor": f"{cpu_model()}, {os.cpu_count()} processors",
        "segments": SCOPES * large.size,
        "scopes": SCOPES,
        "dimensions": DIMS,
        "real": large.real * large.size,
        "distinct": large.distinct,
    }
    truth, floor = _in_process(large)
    yield floor
    with EmbeddedServer() as server:
        yield _row_by_row(server.dsn, large)
        yield _exact(server.dsn, large, truth)
        yield from _hnsw(server.dsn, large, truth)


def _in_process(large: LargeCorpus) -> tuple[Answers, Figures]:
    """Search each scope exactly in this process, as the store `exact` does."""
    answers: Answers = []
    filling = asking = 0.0
    for scope in large:
        store = ExactStore()
        store.prepare(DIMS)
        filling += _timed(lambda own=scope, into=store: into.ingest(own.items, own.vectors))[1]
        hits, seconds = _timed(lambda own=scope, of=store: of.search(own.query, K))
        asking += seconds
        answers.append([hit.id for hit in hits])
    return answers, {"floor_fill_s": filling, "floor_ms": 1000 * asking / len(answers)}


def _row_by_row(dsn: str, large: LargeCorpus) -> Figures:
    """Insert a sample as a plain script would, into the same table: one statement and one transaction each."""
    rows = min(ROW_BY_ROW, SCOPES * large.size // 5)
    scopes = islice(large, 0, None, SCOPES * large.size // rows)
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        register_vector(connection)
        connection.execute("CREATE SCHEMA row_by_row; SET search_path TO row_by_row, public")
        connection.execute(sql("schema").replace(":dims", str(DIMS)).replace(":storage", "PLAIN").encode())
        began, done = time.perf_counter(), 0
        for scope in scopes:
            for item, vector in zip(scope.items, scope.vectors, strict=True):
                connection.execute(INSERT, (item.scope, item.id, item.importance, item.text, vector), prepare=True)
                done += 1
        seconds = time.perf_counter() - began
        size = connection.execute("SELECT pg_total_relation_size('row_by_row.segments')").fetchone()
        connection.execute("SET client_min_messages = error; DROP SCHEMA row_by_row CASCADE")
    assert size is not None
    return {"row_by_row_rows": done, "row_by_row_s": seconds, "row_by_row_bytes": size[0]}


def _exact(dsn: str, large: LargeCorpus, truth: Answers) -> Figures:
    store, loaded = _loaded(dsn, large, EXACT_SEARCH)
    try:
        store.ready()
        queries = large.queries
        answers, seconds = _timed(lambda: _ids(store, queries))
        one, single = _timed(lambda: [[hit.id for hit in store.search(query, K)] for query in queries])
        if one != answers:
            raise AssertionError("the store answers otherwise when it is asked one by one")
        return loaded | {
            "table_bytes": store.stored_bytes()["tables"],
            "btree_bytes": store.stored_bytes()["indexes"],
            "exact_block_ms": 1000 * seconds / len(queries),
            "exact_single_ms": 1000 * single / len(queries),
            "exact_recall": _recall(answers, truth),
        }
    finally:
        store.close()


def _hnsw(dsn: str, large: LargeCorpus, truth: Answers) -> Iterator[Figures]:
    store, _ = _loaded(dsn, large, IndexChoice(kind="hnsw"))
    try:
        _, ready = _timed(store.ready)
        yield {
            "build_s": ready,
            "build": store.evidence()["index build"].partition("; not reproducible")[0],
            "hnsw_bytes": store.stored_bytes()["indexes"],
            "ef_search": list(WIDTHS),
        }
        session, queries = store._sessions.searching, large.queries
        yield _by_width(store, WIDTHS, "scoped", lambda: _ids(store, queries), truth)
        session.execute(b"SET hnsw.iterative_scan = relaxed_order")
        yield _by_width(store, [40], "scanned_on", lambda: _ids(store, queries[::SLOW]), truth[::SLOW])
        session.execute(b"SET hnsw.iterative_scan = off")
        yield _unscoped(store, large, queries)
        if SCOPES * large.size <= OUTGROWING:
            yield _outgrown(store, SCOPES * large.size)
    finally:
        store.close()


def _by_width(
    store: PgvectorStore, widths: Sequence[int], name: str, ask: Callable[[], Answers], truth: Answers
) -> Figures:
    """Return time, rows and recall for each ef_search."""
    columns: dict[str, list[float]] = {"ms": [], "rows": [], "recall": []}
    for width in widths:
        store._sessions.searching.execute(f"SET hnsw.ef_search = {width}".encode())
        answers, seconds = _timed(ask)
        columns["ms"].append(1000 * seconds / len(answers))
        columns["rows"].append(float(np.mean([len(ids) for ids in answers])))
        columns["recall"].append(_recall(answers, truth))
    return {f"{name}_{column}": values for column, values in columns.items()}


def _unscoped(store: PgvectorStore, large: LargeCorpus, queries: Sequence[Query]) -> Figures:
    """Ask for the nearest of all segments, which is what such an index is for."""
    asked = np.stack([query.vector for query in queries if query.vector is not None])
    truth, floor = _timed(lambda: _nearest_of_all(large, asked))
    session = store._sessions.searching
    register_vector(session)

    def ask() -> Answers:
        return [[id for (id,) in session.execute(NEAREST, (vector,), prepare=True).fetchall()] for vector in asked]

    return _by_width(store, WIDTHS, "unscoped", ask, truth) | {"unscoped_floor_ms": 1000 * floor / len(queries)}


def _outgrown(store: PgvectorStore, rows: int) -> Figures:
    """Build the index again in half the memory that holds it."""
    assert store._index is not None
    memory = store._index._memory(rows) * 3 // 4 // 2  # a third of what the store takes is to spare
    store._sessions.searching.execute(f"DROP INDEX {NAME}".encode())
    seconds = _timed(lambda: store._index._create(store._sessions.searching, memory, 1))[1]
    fitted = re.search(rf"{OUTGROWN}([0-9]+)", store._index._build)
    return {"outgrown_s": seconds, "outgrown_mb": memory, "outgrown_after": int(fitted[1]) if fitted else rows}


def _nearest_of_all(large: LargeCorpus, asked: Any) -> Answers:
    every = list(large)
    ids, scores = np.empty((len(asked), 0), np.int64), np.empty((len(asked), 0), np.float32)
    for start in range(0, len(every), TOGETHER):
        block = every[start : start + TOGETHER]
        own = np.array([item.id for scope in block for item in scope.items])
        ids = np.hstack([ids, np.broadcast_to(own, (len(asked), len(own)))])
        scores = np.hstack([scores, asked @ np.vstack([scope.vectors for scope in block]).T])
        best = np.argpartition(-scores, K - 1, axis=1)[:, :K]
        ids, scores = np.take_along_axis(ids, best, axis=1), np.take_along_axis(scores, best, axis=1)
    answers: Answers = np.take_along_axis(ids, np.argsort(-scores, axis=1), axis=1).tolist()
    return answers


def _loaded(dsn: str, large: LargeCorpus, choice: IndexChoice) -> tuple[PgvectorStore, Figures]:
    """Return the store with everything taken in, and what that took; making the segments is not counted."""
    store = PgvectorStore(dsn, parse_weights("cosine"), None, choice)
    store.prepare(DIMS)
    copying, characters = 0.0, 0
    for scope in large:
        copying += _timed(lambda own=scope: store.ingest(own.items, own.vectors))[1]
        characters += sum(len(item.text) for item in scope.items)
    return store, {"copy_s": copying, "characters": characters}


def _ids(store: PgvectorStore, queries: Sequence[Query]) -> Answers:
    return [[hit.id for hit in hits] for hits in store.search_many(queries, K)]


def _recall(answers: Answers, truth: Answers) -> float:
    return float(np.mean([len({*own} & {*true}) / K for own, true in zip(answers, truth, strict=True)]))


def _rounded(value: Any) -> Any:
    if isinstance(value, list):
        return [_rounded(each) for each in value]
    return float(f"{value:.4g}") if isinstance(value, float) else value


def _timed(work: Callable[[], T]) -> tuple[T, float]:
    began = time.perf_counter()
    done = work()
    return done, time.perf_counter() - began


if __name__ == "__main__":
    named = corpus()
    if named is None:
        raise SystemExit(2)
    print("[[run]]", flush=True)
    for part in measure(named, int(sys.argv[1]) if len(sys.argv) > 1 else SEGMENTS):
        for name, value in part.items():
            print(f"{name} = {json.dumps(_rounded(value))}", flush=True)
