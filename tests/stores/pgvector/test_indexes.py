"""The indexes of the reference store: built, searched and described by a real server."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from recallbench.errors import UsageError
from recallbench.stores.exact import ExactStore
from recallbench.stores.pgvector.index_choice import IndexChoice
from recallbench.stores.pgvector.pgvector import PgvectorStore
from recallbench.stores.pgvector.settings import SESSION
from recallbench.stores.pgvector.vector_index import NOT_REPRODUCIBLE, USED
from recallbench.stores.pgvector.weights import parse_weights
from recallbench.stores.statement import StoreRecord, contradictions
from recallbench.stores.store import Item, Query
from recorded_progress import RecordedProgress

DIMS, SIZE, SCOPES = 16, 300, 4
COSINE = {"weights": "cosine"}
_RANDOM = np.random.default_rng(5)
VECTORS = _RANDOM.standard_normal((SIZE, DIMS)).astype(np.float32)
ITEMS = [Item(number, number % SCOPES, "", None, 0.5) for number in range(SIZE)]
QUERIES = [Query(n % SCOPES, "", vector) for n, vector in enumerate(_RANDOM.standard_normal((20, DIMS), np.float32))]


@pytest.fixture
def opened(dsn: str) -> Iterator[Callable[..., PgvectorStore]]:
    stores: list[PgvectorStore] = []

    def fill(**options: str) -> PgvectorStore:
        PgvectorStore.check_together(COSINE | options)
        store = PgvectorStore(dsn, parse_weights("cosine"), None, IndexChoice.read(options))
        stores.append(store)
        store.prepare(DIMS)
        store.ingest(ITEMS, VECTORS)
        store.ready()
        return store

    yield fill
    for store in stores:
        store.close()


@pytest.fixture(scope="module")
def truth() -> list[list[int]]:
    exact = ExactStore()
    exact.prepare(DIMS)
    for scope in range(SCOPES):
        rows = [row for row, item in enumerate(ITEMS) if item.scope == scope]
        exact.ingest([ITEMS[row] for row in rows], VECTORS[rows])
    return [[hit.id for hit in hits] for hits in exact.search_many(QUERIES, 50)]


def found(store: PgvectorStore, k: int) -> list[list[int]]:
    return [[hit.id for hit in hits] for hits in store.search_many(QUERIES, k)]


@pytest.mark.parametrize(
    ("options", "index"),
    [
        (
            {"index": "hnsw", "ef_search": "1000"},
            "hnsw (embedding vector_cosine_ops) WITH (m='16', ef_construction='64')",
        ),
        (
            {"index": "hnsw", "vector_type": "halfvec", "ef_search": "1000", "candidates": "300", "m": "8"},
            "hnsw (((embedding)::halfvec(16)) halfvec_cosine_ops) WITH (m='8', ef_construction='64')",
        ),
        (
            {"index": "hnsw", "vector_type": "bit", "ef_search": "1000", "candidates": "300"},
            "hnsw (((binary_quantize(embedding))::bit(16)) bit_hamming_ops) WITH (m='16', ef_construction='64')",
        ),
        ({"index": "ivfflat", "lists": "8", "probes": "8"}, "ivfflat (embedding vector_cosine_ops) WITH (lists='8')"),
        (
            {"index": "ivfflat", "lists": "8", "iterative_scan": "relaxed_order", "vector_type": "halfvec"},
            "ivfflat (((embedding)::halfvec(16)) halfvec_cosine_ops) WITH (lists='8')",
        ),
    ],
)
def test_a_wide_search_of_an_index_finds_what_exact_search_finds(opened, truth, options, index: str) -> None:
    store = opened(**options)
    assert found(store, 50) == truth
    assert found(store, 10) == [ranking[:10] for ranking in truth]
    evidence = store.evidence()
    assert (evidence["index"], evidence["answered"]) == (index, USED)
    assert "Index Scan using segments_nearest on segments" in evidence["plan"]
    assert re.fullmatch(
        r"maintenance_work_mem 64MB, at most \d parallel workers?, 0 at work; .*", evidence["index build"]
    )  # read back; so small a table gets none
    assert evidence["index build"].endswith(NOT_REPRODUCIBLE)
    assert store.stored_bytes()["indexes"] > 0
    assert not store.prefix_stable
    assert not store.keeps_prefix(options)
    record = StoreRecord(store.version(), store.settings(), evidence)
    dsn = {"dsn": evidence["connection"]}
    assert contradictions(store.states("pgvector", COSINE | options | dsn), record, {}) == []
    for other in ({"index": "exact"}, {"index": "hnsw", "m": "20"}, options | {"iterative_scan": "strict_order"}):
        assert contradictions(store.states("pgvector", COSINE | other | dsn), record, {})


def test_a_small_ef_search_loses_rows_until_the_index_is_scanned_on(opened, truth) -> None:
    store = opened(index="hnsw", ef_search="10")
    settings = store.settings()
    assert settings.keys() == {
        *SESSION, "hnsw.ef_search", "hnsw.iterative_scan", "hnsw.max_scan_tuples", "hnsw.scan_mem_multiplier",
        *(name for name in settings if name.startswith("recallbench.")),
    }  # fmt: skip
    assert settings["hnsw.ef_search"] == "10"
    lengths = list(map(len, found(store, 50)))
    assert max(lengths) <= 10
    assert sum(lengths) < 20 * 10  # three of four rows lie in other scopes
    scanned_on = opened(index="hnsw", ef_search="10", iterative_scan="relaxed_order")
    assert scanned_on.settings()["hnsw.iterative_scan"] == "relaxed_order"
    assert list(map(len, found(scanned_on, 50))) == [50] * 20
    assert found(opened(index="hnsw", ef_search="400"), 50) == truth


def test_candidates_of_bits_cap_what_is_scored_again(opened, truth) -> None:
    store = opened(index="hnsw", vector_type="bit", candidates="12", ef_search="300")
    answers = found(store, 50)
    assert list(map(len, answers)) == [12] * 20
    hits = next(store.search_many(QUERIES, 50))
    vector = QUERIES[0].vector
    assert vector is not None
    for hit in hits:
        cosine = VECTORS[hit.id] @ vector / np.linalg.norm(VECTORS[hit.id]) / np.linalg.norm(vector)
        assert hit.score == pytest.approx(float(cosine), abs=1e-6)
    shared = sum(len({*ranking[:5]} & {*true[:5]}) for ranking, true in zip(answers, truth, strict=True))
    assert 40 < shared < 100  # 16 bits tell little


def test_a_build_without_shared_memory_is_done_by_one_process(opened, monkeypatch) -> None:
    from psycopg import errors

    from recallbench.stores.pgvector.vector_index import VectorIndex

    create, tried = VectorIndex._create, []

    def without_room(self, connection, memory: int, workers: int) -> None:
        tried.append(workers)
        if workers:
            raise errors.DiskFull("could not resize shared memory segment")
        create(self, connection, memory, workers)

    monkeypatch.setattr(VectorIndex, "_create", without_room)
    store = opened(index="hnsw", ef_search="200")
    assert tried[0] > 0
    assert tried[1:] == [0]
    assert store.evidence()["index build"].startswith("maintenance_work_mem 64MB, no parallel worker; ")


def test_a_plan_that_leaves_the_index_aside_is_said(dsn: str) -> None:
    progress = RecordedProgress()
    store = PgvectorStore(dsn, parse_weights("cosine"), progress, IndexChoice.read({"index": "hnsw"}))
    try:
        store.prepare(DIMS)
        store.ingest(ITEMS, VECTORS)
        # The planner takes a btree for so small a scope: that is why the store keeps none beside a vector index.
        store._sessions.searching.execute("CREATE INDEX beside ON segments (scope, id)")
        store.ready()
        assert store.evidence()["answered"] == "not by the vector index, which the plan leaves aside"
        assert "Index Scan using beside on segments" in store.evidence()["plan"]
        assert [note.partition(": ")[2].partition(":")[0] for note in progress.notes] == [
            "the plan does not use the index that was asked for"
        ]
    finally:
        store.close()


def test_an_index_holds_so_many_dimensions(dsn: str) -> None:
    store = PgvectorStore(dsn, parse_weights("cosine"), None, IndexChoice.read({"index": "hnsw"}))
    with pytest.raises(UsageError, match="can't hold these vectors") as refused:
        store.prepare(2001)
    assert refused.value.remedy == "--set vector_type=halfvec"
    assert store.schema == ""
