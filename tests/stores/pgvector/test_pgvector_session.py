"""The reference store's settings, evidence and version, its refusals, and its sessions."""

from __future__ import annotations

import re
import time
from dataclasses import replace

import numpy as np
import psycopg
import pytest

from recallbench.errors import Blocked, InputError, UsageError
from recallbench.stores.pgvector.pgvector import PgvectorStore
from recallbench.stores.pgvector.weights import DEFAULT_WEIGHTS
from recallbench.stores.postgres.tenancy import sweep
from recallbench.stores.store import Item, Query
from recorded_progress import RecordedProgress
from stores.pgvector_corpus import DIMS, ITEMS, QUERIES, VECTORS, corpus


def test_segments_are_counted_as_they_go_in(dsn: str) -> None:
    progress = RecordedProgress()
    items, vectors, _ = corpus()
    store = PgvectorStore(dsn, DEFAULT_WEIGHTS, progress)
    store.prepare(vectors.shape[1])
    store.ingest(items, vectors)
    store.ready()
    store.close()
    assert progress.stages == [("taking in segments", 51, "segments", 51), ("lexicon", 3, "scopes", 3)]


def test_settings_are_read_from_the_session(filled) -> None:
    store = filled("cosine=1,bm25=0.5")
    assert store.settings() == {
        "recallbench.weight_cosine": "1.0",
        "recallbench.weight_bm25": "0.5",
        "recallbench.weight_recency": "0.0",
        "recallbench.weight_importance": "0.0",
        "recallbench.weight_graph": "0.0",
        "recallbench.bm25_k1": "1.2",
        "recallbench.bm25_b": "0.75",
        "recallbench.recency_half_life_days": "30",
        "recallbench.graph_best": "5",
        "plan_cache_mode": "force_generic_plan",
        "enable_seqscan": "off",
        "enable_bitmapscan": "off",
        "max_parallel_workers_per_gather": "0",
        "jit": "off",
        "synchronous_commit": "off",
        "client_min_messages": "warning",
        "client_encoding": "UTF8",
        "extra_float_digits": "1",
        "TimeZone": "UTC",
    }
    store._open().execute("SET recallbench.weight_bm25 = 7; SET enable_seqscan = on")
    assert store.settings()["recallbench.weight_bm25"] == "7"
    assert store.settings()["enable_seqscan"] == "on"


def test_the_settings_are_what_the_score_uses(filled) -> None:
    store = filled("cosine=1,bm25=0.5")
    before = store.search(QUERIES[0], 50)
    store._open().execute("SET recallbench.weight_bm25 = 7")
    assert store.search(QUERIES[0], 50) != before


def test_evidence_shows_the_plan_that_ran(filled) -> None:
    for weights in ("cosine", None):
        evidence = filled(weights).evidence()
        assert "Index Scan using segments_pkey" in evidence["plan"]
        assert "Index Cond: (scope = asked.scope)" in evidence["plan"]
        assert "btree" in evidence["index"]


def test_it_says_how_much_its_own_tables_take_on_disk(filled) -> None:
    small, whole = (filled(weights).stored_bytes() for weights in ("cosine", None))
    assert small.keys() == whole.keys() == {"tables", "indexes"}
    # A page has 8 kB; the postings of the words come on top.
    assert all(size > 0 and size % 8192 == 0 for size in small.values())
    assert whole["tables"] > small["tables"]


def test_version_names_store_server_and_extension(filled) -> None:
    pattern = r"recallbench-pgvector/1 \(PostgreSQL \d+\.\d+, pgvector \d+\.\d+\.\d+\)"
    assert re.fullmatch(pattern, filled("cosine").version())


def test_a_fresh_session_ranks_alike_and_holds_its_schema(filled, dsn: str) -> None:
    store = filled()
    before = list(store.search_many(QUERIES, 50))
    settings, plan = store.settings(), store.evidence()["plan"]
    for _ in range(3):
        assert store.chill() == ""
        assert store.search(QUERIES[0], 50) == before[0]
    filled("cosine")  # another run sweeps, and must leave the first alone
    assert list(store.search_many(QUERIES, 50)) == before
    assert (store.settings(), store.evidence()["plan"]) == (settings, plan)
    schema = store.schema
    store.close()
    with psycopg.connect(dsn) as connection:
        assert connection.execute("SELECT 1 FROM pg_namespace WHERE nspname = %s", (schema,)).fetchone() is None


def test_closing_twice_drops_the_schema_and_is_no_error(filled, dsn: str) -> None:
    store = filled("cosine")
    store.close()
    store.close()
    with psycopg.connect(dsn, autocommit=True) as connection:
        rows = connection.execute("SELECT nspname FROM pg_namespace WHERE nspname LIKE 'recallbench_%'").fetchall()
        assert rows == []
        # A server takes a moment to notice that a client is gone.
        deadline = time.monotonic() + 10
        sessions = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'recallbench'"
        while connection.execute(sessions).fetchone() != (0,):
            assert time.monotonic() < deadline, "a connection was left open"
            time.sleep(0.02)
    with pytest.raises(Blocked, match="not open"):
        store.search(QUERIES[0], 5)


def test_a_password_of_a_tcp_server_is_used_and_not_shown(tcp_dsn: str) -> None:
    store = PgvectorStore(tcp_dsn, DEFAULT_WEIGHTS)
    store.prepare(DIMS)
    store.ingest(ITEMS, VECTORS)
    store.ready()
    assert len(store.search(QUERIES[0], 50)) == 17
    shown = " ".join([*store.evidence().values(), *store.settings().values(), store.version()])
    store.close()
    assert "p@ss" not in shown
    assert "127.0.0.1" in shown


def test_vectors_of_3000_numbers_are_searched(filled) -> None:
    random = np.random.default_rng(3)
    vectors = random.standard_normal((4, 3000)).astype(np.float32)
    items = [Item(n, 1, "x", None, 0.5) for n in range(4)]
    assert filled("cosine", items, vectors).search(Query(1, "", vectors[2]), 1)[0].id == 2


@pytest.mark.parametrize("dims", [0, 16_001])
def test_a_width_that_pgvector_does_not_take_is_refused(dsn: str, dims: int) -> None:
    with pytest.raises(UsageError, match="can't hold"):
        PgvectorStore(dsn).prepare(dims)


@pytest.mark.parametrize(
    ("row", "complaint"), [([0.0, 0.0], "only zeros"), ([np.nan, 1.0], "NaN"), ([1.0, 2.0, 3.0], "1 x 3")]
)
def test_vectors_that_cannot_be_compared_are_refused(dsn: str, row: list[float], complaint: str) -> None:
    store = PgvectorStore(dsn)
    store.prepare(2)
    try:
        with pytest.raises(InputError) as caught:
            store.ingest([Item(1, 1, "x", None, 0.5)], np.array([row], np.float32))
        assert complaint in caught.value.found
    finally:
        store.close()


@pytest.mark.parametrize("importance", [-0.1, 1.1, float("nan")])
def test_importance_outside_its_range_is_refused(dsn: str, importance: float) -> None:
    store = PgvectorStore(dsn)
    store.prepare(2)
    try:
        with pytest.raises(InputError, match="segment 1") as caught:
            store.ingest([Item(1, 1, "x", None, importance)], np.ones((1, 2), np.float32))
        assert str(importance) in caught.value.found
    finally:
        store.close()


def test_questions_that_cannot_be_searched_are_refused(filled) -> None:
    store = filled()
    for vector in (None, np.zeros(DIMS, np.float32), np.ones(DIMS + 1, np.float32), np.full(DIMS, np.nan, np.float32)):
        with pytest.raises(InputError):
            store.search(replace(QUERIES[0], vector=vector), 5)
    with pytest.raises(InputError, match="too long"):
        store.search(replace(QUERIES[0], text="x " * 200_000), 5)


def test_a_search_broken_off_does_not_block_the_next(filled) -> None:
    store = filled("cosine")
    questions = QUERIES * 20
    complete = list(store.search_many(questions, 50))
    left = store.search_many(questions, 50)
    assert [next(left), next(left)] == complete[:2]
    # A block of questions is under way now, and others want the session.
    assert store.search(questions[5], 50) == complete[5]
    assert store.settings()["recallbench.weight_cosine"] == "1.0"
    assert list(left) == complete[2:]


def test_the_next_block_is_on_its_way_while_one_is_unpacked(filled) -> None:
    # A block of these is larger than a socket takes at once.
    random = np.random.default_rng(3)
    vectors = random.standard_normal((4, 1_900)).astype(np.float32)
    items = [Item(n, 1, "x", None, 0.5) for n in range(4)]
    store = filled("cosine", items, vectors)
    answers = store.search_many([Query(1, "", row) for row in np.tile(vectors, (128, 1))], 1)
    assert next(answers)[0].id == 0
    assert store._open().pgconn.flush() == 0
    assert [hits[0].id for hits in answers] == ([0, 1, 2, 3] * 128)[1:]


def test_searching_before_ready_is_refused(dsn: str) -> None:
    store = PgvectorStore(dsn)
    store.prepare(2)
    with pytest.raises(Blocked, match="all segments"):
        store.search(Query(1, "", np.ones(2, np.float32)), 5)
    store.close()


def test_another_caller_has_a_session_of_its_own_and_leaves_the_schema(filled, dsn: str) -> None:
    store = filled("cosine")
    alone = list(store.search_many(QUERIES, 10))
    handle = store.another_caller()
    assert (store.one_caller, handle.round_trip(), store.round_trip()) == ("", True, True)
    with psycopg.connect(dsn) as other:
        count = "SELECT count(*) FROM pg_prepared_statements"
        own = [each._open().execute(count).fetchone() for each in (store, handle)]
        assert own == [(2,), (2,)]
        # Both wait for their answers at once: neither settles the other's block.
        both = [
            list(pair) for pair in zip(store.search_many(QUERIES, 10), handle.search_many(QUERIES, 10), strict=True)
        ]
        assert both == [[hits, hits] for hits in alone]
        before = handle.call_seconds
        handle.search(QUERIES[0], 10)
        assert handle.call_seconds > before
        handle.close()
        assert other.execute("SELECT count(*) FROM pg_namespace WHERE nspname = %s", (store.schema,)).fetchone() == (1,)
    assert list(store.search_many(QUERIES, 10)) == alone


def test_a_holder_that_was_cut_off_while_another_searched_is_no_end_of_the_run(tcp_dsn: str) -> None:
    # As a balancer does with a session that is idle for long: the one that searches lives, and removes the schema.
    progress = RecordedProgress()
    stores = [PgvectorStore(tcp_dsn, DEFAULT_WEIGHTS, progress) for _ in range(2)]
    schemas = []
    for store, both in zip(stores, (False, True), strict=True):
        store.prepare(DIMS)
        store.ingest(ITEMS, VECTORS)
        store.ready()
        store.chill()
        schemas.append(store.schema)
        ended = "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'"
        if both:
            ended = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'recallbench'"
        assert len(store.search(QUERIES[0], 50)) == 17
        with psycopg.connect(tcp_dsn, autocommit=True) as other:
            other.execute(ended)
        store.close()
    assert progress.notes == [
        f"{schemas[1]} stays on the server, since terminating connection due to administrator command; "
        "the next run there removes it"
    ]
    with psycopg.connect(tcp_dsn, autocommit=True) as other:
        left = other.execute("SELECT nspname FROM pg_namespace WHERE nspname ~ '^recallbench_'").fetchall()
        assert left == [(schemas[1],)]
        assert sweep(other) == [schemas[1]]


def test_no_session_is_ended_for_being_idle(tcp_dsn: str) -> None:
    with psycopg.connect(tcp_dsn, autocommit=True) as other:
        other.execute("ALTER ROLE recallbench SET idle_session_timeout = '50ms'")
        try:
            store = PgvectorStore(tcp_dsn)
            store.prepare(DIMS)
            time.sleep(0.2)
            store.ingest(ITEMS, VECTORS)
            store.close()
        finally:
            other.execute("ALTER ROLE recallbench RESET idle_session_timeout")
