"""The pgmnemo adapter's own time on top of the extension's, and COPY's advantage over its ingest().

Asks every LoCoMo question through the store, and in the same rounds through EXPLAIN ANALYZE, which gives the
server's time for the same call. Takes the server from --dsn or PGMNEMO_DSN; the extension must be installed there.
Run: python benchmarks/performance/pgmnemo.py [DSN]
"""

from __future__ import annotations

import os
import sys
import time

import numpy as np

from recallbench.cli.options import default_cache
from recallbench.corpora.registry import open_corpus
from recallbench.embedding.registry import open_embedder
from recallbench.protocol.frozen import load
from recallbench.retrieval.opaque import OpaqueIds
from recallbench.stores.pgmnemo.lessons import ROLE, copy_lessons, padded
from recallbench.stores.pgmnemo.pgmnemo import PgmnemoStore
from recallbench.stores.store import Item, Matrix, Query
from row import Row, show

ROUNDS, DEPTH, LIMIT = 5, 50, 1.10


def rows(dsn: str) -> list[Row]:
    """Return the best round of each side, since noise only ever adds."""
    corpus = open_corpus("locomo", rules=load(), environ=os.environ)
    embedder, ids = open_embedder("minilm", cache_dir=default_cache()), OpaqueIds()
    scopes: list[tuple[list[Item], Matrix]] = []
    queries: list[Query] = []
    for haystack in corpus.haystacks():
        ids.admit(haystack)
        scopes.append((ids.items(haystack), embedder.lookup([s.text for s in haystack.segments], "passage").vectors))
        question_vectors = embedder.lookup([question.text for question in haystack.questions], "query").vectors
        queries += [
            ids.query(question, vector) for question, vector in zip(haystack.questions, question_vectors, strict=True)
        ]
    store = PgmnemoStore(dsn)
    store.prepare(embedder.stored_dims)
    try:
        loads = [(_by_copy(store, scopes), _by_ingest(store, scopes)) for _ in range(ROUNDS)]
        copied, ingested = (min(side) for side in zip(*loads, strict=True))
        for items, vectors in scopes:
            store.ingest(items, vectors)
        store.ready()
        ours, theirs = [], []
        for turn in range(ROUNDS + 1):
            started = time.perf_counter()
            for _ in store.search_many(queries, DEPTH):
                pass
            ended = time.perf_counter()
            if turn:  # the first warms plans
                ours.append(ended - started)
                theirs.append(_of_the_server(store, queries))
        version = store.version()
    finally:
        store.close()
        embedder.close()
    ratio = min(ours) / min(theirs)
    spent = f"{1000 * min(ours) / len(queries):.3f} against {1000 * min(theirs) / len(queries):.3f} ms per question"
    segments = sum(len(items) for items, _ in scopes)
    return [
        Row(
            f"pgmnemo {version}: adapter against the extension's own time",
            f"at most {LIMIT:.2f} times",
            f"{ratio:.3f} times ({spent})",
            ratio <= LIMIT,
        ),
        Row(
            f"pgmnemo {version}: {segments} segments by COPY, against its own ingest()",
            "not slower",
            f"{ingested / copied:.1f} times as fast ({copied:.2f} against {ingested:.2f} s)",
            copied <= ingested,
        ),
    ]


def _of_the_server(store: PgmnemoStore, queries: list[Query]) -> float:
    connection, projects = store._open()
    explain = b"EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) " + store._signature.call.encode()
    spent = 0.0
    for query in queries:
        values = {
            "query_embedding": padded(np.asarray([query.vector], np.float32), store._table.dims)[0],
            "k": DEPTH,
            "role_filter": ROLE,
            "project_id_filter": projects.number(query.scope),
            "query_text": query.text,
        }
        row = connection.execute(explain, values, prepare=True).fetchone()
        assert row is not None
        spent += row[0][0]["Execution Time"]
    return spent / 1000


def _by_copy(store: PgmnemoStore, scopes: list[tuple[list[Item], Matrix]]) -> float:
    connection, projects = store._open()
    started = time.perf_counter()
    with connection.transaction(force_rollback=True):
        for items, vectors in scopes:
            copy_lessons(connection, store._table, projects, items, padded(vectors, store._table.dims), "constant")
        ended = time.perf_counter()
    return ended - started


def _by_ingest(store: PgmnemoStore, scopes: list[tuple[list[Item], Matrix]]) -> float:
    connection, projects = store._open()
    started = time.perf_counter()
    with connection.transaction(force_rollback=True):
        for items, vectors in scopes:
            for item, vector in zip(items, padded(vectors, store._table.dims), strict=True):
                connection.execute(
                    "SELECT pgmnemo.ingest(%s, %s, %s, %s, 3::smallint, %s, %s)",
                    (ROLE, projects.number(item.scope), f"by ingest {item.id}", item.text, vector, "recallbench"),
                    prepare=True,
                )
        ended = time.perf_counter()
    return ended - started


if __name__ == "__main__":
    dsn = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("PGMNEMO_DSN", "")
    if not dsn:
        raise SystemExit("no server with the extension: name one as DSN or in PGMNEMO_DSN")
    raise SystemExit(show(rows(dsn)))
