"""The store against the real extension, wherever PGMNEMO_DSN names a server that offers it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from psycopg.types.json import Jsonb

from recallbench.stores.exact import ExactStore
from recallbench.stores.pgmnemo.lessons import padded
from recallbench.stores.pgmnemo.pgmnemo import PgmnemoStore
from recallbench.stores.pgmnemo.signature import FUNCTIONS
from recallbench.stores.store import Hit, Item, Query, Store
from stores.standin import EVERY_RIGHT, database, plain_role

VERSIONS = ("0.2.1", "0.4.1", "0.10.0", "0.15.1", "0.20.0")
DIMS = 24
SIZES = (60, 17)
"""One scope that is deeper than any call, one that is not."""
WORDS = ["garden", "guitar", "Lisbon", "marathon", "bakery", "storm"]
WORDS += ["violin", "harbour", "orchard", "teacher", "winter", "bicycle"]
YEAR = timedelta(days=365)
_random = np.random.default_rng(3)


def corpus() -> list[Item]:
    items = []
    for scope, size in enumerate(SIZES):
        for position in range(size):
            words = " ".join(_random.choice(WORDS, 9, replace=False))
            items.append(Item(1000 * scope + position, scope, f"On that day we spoke of {words}.", None, 0.5))
    return items


ITEMS = corpus()
VECTORS = _random.standard_normal((len(ITEMS), DIMS)).astype(np.float32)
QUERIES = [
    Query(turn % 2, f"Which {WORDS[turn % 12]} was it?", row, None)
    for turn, row in enumerate(_random.standard_normal((24, DIMS)).astype(np.float32))
]
Rankings = list[list[Hit]]


ENDS = (VERSIONS[0], VERSIONS[-1])
"""The versions of the short stage."""


@pytest.fixture(
    params=[version if version in ENDS else pytest.param(version, marks=pytest.mark.marked) for version in VERSIONS]
)
def version(request: pytest.FixtureRequest, published: tuple[str, frozenset[str]]) -> str:
    if request.param not in published[1]:
        pytest.skip(f"the server that PGMNEMO_DSN names does not offer pgmnemo {request.param}")
    return request.param


@pytest.fixture
def dsn(version: str, published: tuple[str, frozenset[str]]) -> Iterator[str]:
    with database(published[0], version) as address:
        yield address


@contextmanager
def filled(
    dsn: str, function: str = "recall_lessons", items: Sequence[Item] = ITEMS, dates="constant", vectors=VECTORS
) -> Iterator[PgmnemoStore]:
    store = PgmnemoStore(dsn, function, dates)
    try:
        store.prepare(vectors.shape[1])
        fill(store, items, vectors)
        store.ready()
        yield store
    finally:
        store.close()


def fill(store: Store, items: Sequence[Item], vectors) -> None:
    for scope in dict.fromkeys(item.scope for item in items):
        rows = [row for row, item in enumerate(items) if item.scope == scope]
        store.ingest([items[row] for row in rows], vectors[rows])


def rankings(store: Store, k: int = 50) -> Rankings:
    return list(store.search_many(QUERIES, k))


def ids(rankings: Rankings) -> list[list[int]]:
    return [[hit.id for hit in hits] for hits in rankings]


def by_cosine(k: int) -> list[list[int]]:
    positions: dict[int, list[int]] = {}
    for scope in range(len(SIZES)):
        store = ExactStore()
        store.prepare(DIMS)
        rows = [row for row, item in enumerate(ITEMS) if item.scope == scope]
        store.ingest([ITEMS[row] for row in rows], VECTORS[rows])
        positions |= {
            i: [hit.id for hit in store.search(query, k)] for i, query in enumerate(QUERIES) if query.scope == scope
        }
    return [positions[i] for i in range(len(QUERIES))]


def first_row(connection: psycopg.Connection, query: str) -> tuple:
    row = connection.execute(query.encode()).fetchone()
    assert row is not None
    return row


def functions(dsn: str) -> list[str]:
    query = "SELECT proname FROM pg_proc WHERE pronamespace = 'pgmnemo'::regnamespace AND proname = ANY(%s)"
    with psycopg.connect(dsn) as connection:
        there = {name for (name,) in connection.execute(query, (list(FUNCTIONS),)).fetchall()}
    return [name for name in FUNCTIONS if name in there]


def test_every_function_recalls_every_segment_to_depth_50(dsn: str, version: str) -> None:
    offered = functions(dsn)
    assert "recall_lessons" in offered
    for function in offered:
        with filled(dsn, function) as store:
            assert store.version() == version
            with psycopg.connect(dsn) as connection:
                assert first_row(connection, "SELECT count(*) FROM pgmnemo.agent_lesson") == (77,)
            for k in (10, 50):
                answers = rankings(store, k)
                assert [len(hits) for hits in answers] == [min(k, SIZES[query.scope]) for query in QUERIES]
                assert all(len({hit.id for hit in hits}) == len(hits) for hits in answers)
                assert all(hit.id // 1000 == q.scope for hits, q in zip(answers, QUERIES, strict=True) for hit in hits)
            state = store.settings()
            assert state["pgmnemo.gate_strict"] == "warn"
            assert state["pgmnemo.recency_weight"] == "0.10"
            assert state["pgmnemo.tenant_id"].startswith("10000000")
            assert state["hnsw.ef_search"] == "1000"


def test_the_first_of_them_ranks_as_cosine_does(published: tuple[str, frozenset[str]]) -> None:
    if "0.2.1" not in published[1]:
        pytest.skip("the server that PGMNEMO_DSN names does not offer pgmnemo 0.2.1")
    with database(published[0], "0.2.1") as dsn, filled(dsn) as store:
        assert ids(rankings(store)) == by_cosine(50)
        assert ids(rankings(store, 10)) == by_cosine(10)


def test_recall_fast_ranks_as_cosine_does(dsn: str, version: str) -> None:
    if "recall_fast" not in functions(dsn):
        pytest.skip(f"pgmnemo {version} has no recall_fast")
    with filled(dsn, "recall_fast") as store:
        assert ids(rankings(store)) == by_cosine(50)


def test_answers_repeat_in_one_session_and_the_next(dsn: str) -> None:
    with filled(dsn) as store:
        first = rankings(store)
        assert rankings(store) == first
        assert store.chill() == ""
        assert rankings(store) == first
    with filled(dsn) as store:
        assert rankings(store) == first


def test_recalling_writes_no_row(dsn: str) -> None:
    written = "SELECT md5(string_agg(l::text, '' ORDER BY id)) FROM pgmnemo.agent_lesson l"
    for function in functions(dsn):
        with filled(dsn, function) as store, psycopg.connect(dsn, autocommit=True) as other:
            before = first_row(other, written)
            rankings(store)
            assert first_row(other, written) == before
            known = first_row(other, "SELECT to_jsonb(l) ? 'recall_count' FROM pgmnemo.agent_lesson l LIMIT 1")
            if known == (True,):
                assert first_row(other, "SELECT sum(recall_count) FROM pgmnemo.agent_lesson") == (0,)


COMPARED = "SELECT topic, to_jsonb(l) - 'topic' FROM pgmnemo.agent_lesson l ORDER BY topic"
OWN_WAY = """SELECT pgmnemo.ingest(p_role => %s, p_project_id => %s, p_topic => %s, p_lesson_text => %s,
             p_importance => %s::int2, p_embedding => %s::vector, p_commit_sha => %s, p_metadata => %s)"""
CLOCK = {"created_at", "updated_at", "verified_at", "state_changed_at", "t_valid_from", "embedding_at"}
"""The columns of time, which ingest() has no parameter for."""
DERIVED = {"content_type"}
"""Columns that later versions derive from the text; they rank nothing unless a call names them."""


def test_rows_are_those_of_the_extension_s_own_ingest(dsn: str) -> None:
    with filled(dsn) as store, psycopg.connect(dsn, autocommit=True) as other:
        copied = dict(other.execute(COMPARED).fetchall())
        before = ids(rankings(store))
        other.execute("DELETE FROM pgmnemo.agent_lesson")
        topics = {}
        for topic, row in copied.items():
            values = (row["role"], row["project_id"], topic, row["lesson_text"], row["importance"], row["embedding"])
            answer = other.execute(OWN_WAY, (*values, row["commit_sha"], Jsonb(row["metadata"]))).fetchone()
            assert answer is not None
            topics[answer[0]] = topic
        own = dict(other.execute(COMPARED).fetchall())
        assert own.keys() == copied.keys()
        differing = {name for topic, row in own.items() for name in row if row[name] != copied[topic][name]}
        assert differing >= {"id", "created_at", "source_run_id"}
        assert differing <= {"id", "source_run_id"} | CLOCK | DERIVED
        # One clock for all of them, so recency adds the same to each and the order can be compared.
        other.execute("UPDATE pgmnemo.agent_lesson SET created_at = now()")
        store._items = {lesson: int(topic.rpartition("segment")[2]) for lesson, topic in topics.items()}
        assert ids(rankings(store)) == before
        other.execute("DELETE FROM pgmnemo.agent_lesson")


@pytest.fixture
def later(dsn: str) -> Callable[[timedelta], str]:
    """The DSN of sessions whose clock is ahead: a now() of our own is found before the system's."""

    def ahead(by: timedelta) -> str:
        schema = f"ahead_{by.days}"
        with psycopg.connect(dsn) as connection:
            connection.execute(f"CREATE SCHEMA {schema}".encode())
            connection.execute(
                f"""CREATE FUNCTION {schema}.now() RETURNS timestamptz LANGUAGE sql STABLE AS
                    $$SELECT pg_catalog.now() + interval '{by.days} days'$$""".encode()
            )
        return make_conninfo(dsn, options=f"-csearch_path={schema},pg_catalog,public")

    return ahead


def test_the_clock_changes_neither_order_nor_score(dsn: str, later: Callable[[timedelta], str]) -> None:
    ahead = later(YEAR)
    with psycopg.connect(ahead) as connection:
        assert first_row(connection, "SELECT now() - pg_catalog.now()") == (YEAR,)
    for function in functions(dsn):
        with filled(dsn, function) as store:
            today = rankings(store)
        with filled(ahead, function) as store:
            assert rankings(store) == today


def test_with_the_corpus_dates_the_clock_does_change_the_order(dsn: str, later: Callable[[timedelta], str]) -> None:
    # The nearer one is old, the other one young: a year on both are old.
    today = datetime.now(UTC)
    dated = [
        Item(0, 0, "Last season we planted an orchard together.", today - timedelta(days=89), 0.5),
        Item(1, 0, "This week the bicycle was finally repaired.", today - timedelta(days=1), 0.5),
    ]
    vectors = np.array([[1, 0.02], [1, 0.04]], np.float32)
    query = Query(0, "zeppelin", np.array([1, 0], np.float32))
    orders, scores = [], []
    for where in (dsn, later(YEAR)):
        with filled(where, items=dated, dates="dataset", vectors=vectors) as store:
            hits = store.search(query, 10)
            orders.append([hit.id for hit in hits])
            scores.append(dict(hits))
    assert orders == [[1, 0], [0, 1]]
    assert scores[0][1] > scores[1][1]
    undated = [replace(item, occurred_at=None) for item in dated]
    with filled(dsn, items=undated, dates="dataset", vectors=vectors) as store:
        assert dict(store.search(query, 10)) == pytest.approx(scores[1], abs=1e-9)


def test_a_run_removes_its_rows_and_those_of_a_killed_one(dsn: str, run_python) -> None:
    code = """
import sys
import numpy as np
from recallbench.stores.pgmnemo.pgmnemo import PgmnemoStore
from recallbench.stores.store import Item

store = PgmnemoStore(sys.argv[1])
store.prepare(2)
store.ingest([Item(1, 1, "red fox", None, 0.5)], np.ones((1, 2), np.float32))
print("in", flush=True)
sys.stdin.readline()
"""
    count = "SELECT count(*) FROM pgmnemo.agent_lesson"
    dead = run_python(code, dsn)
    assert dead.stdout.readline() == "in\n"
    dead.kill()
    dead.wait()
    with psycopg.connect(dsn, autocommit=True) as other:
        assert first_row(other, count) == (1,)
        other.execute(
            """SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
               WHERE datname = current_database() AND application_name = 'recallbench'"""
        )
        with filled(dsn):
            assert first_row(other, count) == (77,)
        assert first_row(other, count) == (0,)


def test_two_runs_side_by_side_answer_as_one_alone(dsn: str) -> None:
    with filled(dsn) as store:
        alone = ids(rankings(store))
    with filled(dsn) as first, filled(dsn) as second:
        with psycopg.connect(dsn) as other:
            assert first_row(other, "SELECT count(DISTINCT project_id), count(*) FROM pgmnemo.agent_lesson") == (4, 154)
        assert ids(rankings(first)) == alone
        assert ids(rankings(second)) == alone


def test_a_plain_role_under_row_security_measures_the_same(dsn: str) -> None:
    with filled(dsn) as store:
        owner = rankings(store)
    with plain_role(dsn, *EVERY_RIGHT) as plain:
        with psycopg.connect(plain) as connection:
            assert first_row(connection, "SELECT row_security_active('pgmnemo.agent_lesson')") == (True,)
        with filled(plain) as store:
            assert rankings(store) == owner
    with psycopg.connect(dsn) as other:
        assert first_row(other, "SELECT count(*) FROM pgmnemo.agent_lesson") == (0,)


CROWD = """INSERT INTO pgmnemo.agent_lesson (role, project_id, topic, lesson_text, embedding, commit_sha, verified_at)
           SELECT 'dev', i % 7, 'other' || i, 'Somebody else spoke of the bakery and the storm, ' || i,
                  (SELECT array_agg(CASE WHEN j <= 24 THEN random() - 0.5 ELSE 0 * i END)::vector
                   FROM generate_series(1, 1024) j),
                  'c' || i, now()
           FROM generate_series(1, 1500) i"""
"""Twenty lessons of others for each of ours, as near to the questions."""


@pytest.mark.marked
def test_lessons_of_others_change_nothing(dsn: str) -> None:
    alone = {}
    for function in functions(dsn):
        with filled(dsn, function) as store:
            alone[function] = rankings(store)
    with psycopg.connect(dsn, autocommit=True) as other:
        other.execute(CROWD)
    for function, expected in alone.items():
        with filled(dsn, function) as store:
            assert rankings(store) == expected
            assert store.evidence()["other rows in the table"] == "1500"
    with psycopg.connect(dsn) as other:
        assert first_row(other, "SELECT count(*) FROM pgmnemo.agent_lesson") == (1500,)


def test_padding_reaches_the_table(dsn: str) -> None:
    with filled(dsn), psycopg.connect(dsn) as other:
        (text,) = first_row(other, "SELECT embedding::text FROM pgmnemo.agent_lesson WHERE topic LIKE '%segment0'")
        stored = np.array(text.strip("[]").split(","), np.float32)
    assert np.array_equal(stored, padded(VECTORS[:1], 1024)[0])
