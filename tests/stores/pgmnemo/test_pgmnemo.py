"""The store against stand-ins of the extension; test_published_pgmnemo.py has the real one."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from recallbench.errors import Blocked, InputError, UsageError
from recallbench.stores.exact import ExactStore
from recallbench.stores.pgmnemo.pgmnemo import PgmnemoStore
from recallbench.stores.store import Hit, Item, Query, Store
from stores.standin import EVERY_RIGHT, database, plain_role

DIMS = 24
SIZE = 17
WORDS = ("garden", "guitar", "Lisbon", "marathon", "bakery", "storm")
ITEMS = [
    Item(1000 * scope + place, scope, f"We talked about the {WORDS[place % 6]}.", None, 0.5)
    for scope in (0, 1)
    for place in range(SIZE)
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
        asked = [i for i, query in enumerate(queries) if query.scope == scope]
        for i, hits in zip(asked, store.search_many([queries[i] for i in asked], k), strict=True):
            answers[i] = ids(hits)
    return [answers[i] for i in range(len(queries))]


def lessons(dsn: str) -> int:
    with psycopg.connect(dsn) as connection:
        row = connection.execute("SELECT count(*) FROM pgmnemo.agent_lesson").fetchone()
    assert row is not None
    return row[0]


@pytest.mark.parametrize(
    ("version", "function"),
    [
        ("1.0", "recall_lessons"),
        ("2.0", "recall_lessons"),
        ("2.0", "recall_hybrid"),
        ("2.0", "recall_fast"),
        ("1.0-overloaded", "recall_lessons"),
    ],
)
def test_rankings_are_the_function_s_own(standin: str, version: str, function: str) -> None:
    with database(standin, version) as dsn, filled(dsn, function) as store:
        for k in (10, 50):
            found = [ids(hits) for hits in store.search_many(QUERIES, k)]
            assert found == by_cosine(QUERIES, k)
            assert {len(row) for row in found} == {min(k, SIZE)}
        assert ids(store.search(QUERIES[3], 10)) == by_cosine(QUERIES[3:4], 10)[0]
        assert store.version() == version
        assert store.evidence()["function"].startswith(f"pgmnemo.{function}(")
        assert ("given" in store.evidence()["query text"]) == (function != "recall_fast")


def test_the_question_reaches_the_lexical_part(standin: str) -> None:
    with database(standin, "2.0") as dsn, filled(dsn) as store:
        plain = dict(store.search(replace(QUERIES[0], text=""), 50))
        asked = dict(store.search(replace(QUERIES[0], text="bakery"), 50))
        assert {id for id, score in asked.items() if score > plain[id]} == {4, 10, 16}


def test_settings_are_in_force_and_read_back(standin: str) -> None:
    expected = {
        "pgmnemo.gate_strict": "warn",
        "pgmnemo.recency_weight": "0.10",
        "pgmnemo.tenant_id": "1000000001",
        "hnsw.ef_search": "1000",
        "statement_timeout": "0",
    }
    newer = {"pgmnemo.ef_search": "500", "pgmnemo.track_recall_recency": "off"}
    for version, known in (("1.0", expected), ("2.0", expected | newer)):
        with database(standin, version) as dsn, filled(dsn) as store:
            list(store.search_many(QUERIES, 10))
            state = dict(store.settings())
            assert {name: state.get(name) for name in known} == known
            assert set(state) - set(known) <= {"hnsw.iterative_scan"}


def test_a_hurried_role_is_given_time(standin: str) -> None:
    with database(standin, "1.0-slow") as dsn:
        hurried = make_conninfo(dsn, options="-cstatement_timeout=100")
        with filled(hurried) as store:
            assert ids(store.search(QUERIES[0], 5)) == by_cosine(QUERIES[:1], 5)[0]


def test_a_statement_that_is_cancelled_is_told(standin: str) -> None:
    with database(standin, "1.0-slow") as dsn, filled(dsn) as store:
        with psycopg.connect(dsn, autocommit=True) as other:
            cancel = """SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity
                        WHERE datname = current_database() AND pid <> pg_backend_pid()"""
            timer = threading.Timer(0.5, other.execute, (cancel,))
            timer.start()
            with pytest.raises(Blocked, match="the server gave up while calling pgmnemo"):
                list(store.search_many(QUERIES[:20], 10))
            timer.join()
        store.close()
        assert lessons(dsn) == 0


def test_recalling_writes_nothing(standin: str) -> None:
    with database(standin, "2.0") as dsn, filled(dsn) as store:
        list(store.search_many(QUERIES, 10))
        with psycopg.connect(dsn) as other:
            assert other.execute("SELECT sum(recall_count), count(*) FROM pgmnemo.agent_lesson").fetchone() == (0, 34)
            other.execute("SELECT pgmnemo.recall_lessons(array_fill(1, ARRAY[1024])::vector, 1, NULL, 1000000000)")
            # Left to itself it would.
            assert other.execute("SELECT sum(recall_count) FROM pgmnemo.agent_lesson").fetchone() == (17,)


def test_rows_go_with_the_run_and_those_of_others_stay(standin: str) -> None:
    with database(standin, "1.0") as dsn:
        with psycopg.connect(dsn) as owner:
            owner.execute(
                """INSERT INTO pgmnemo.agent_lesson (role, project_id, topic, lesson_text, commit_sha, verified_at,
                   embedding)
                   VALUES ('bench', 7, 'boats', 'It leaks.', 'abc', now(), array_fill(1, ARRAY[1024])::vector)"""
            )
        with filled(dsn) as store:
            assert lessons(dsn) == 35
            assert store.evidence()["other rows in the table"] == "1"
            # What is not ours is never an answer, though it is of the same role.
            assert all(len(hits) == SIZE for hits in store.search_many(QUERIES, 50))
        assert lessons(dsn) == 1
        store.close()


def test_two_runs_side_by_side_use_different_projects(standin: str) -> None:
    numbers = "SELECT DISTINCT project_id FROM pgmnemo.agent_lesson ORDER BY 1"
    with database(standin, "2.0") as dsn, filled(dsn) as first, filled(dsn) as second:
        with psycopg.connect(dsn) as other:
            found = [number for (number,) in other.execute(numbers).fetchall()]
        assert found == [1_000_000_000, 1_000_000_001, 1_000_100_000, 1_000_100_001]
        expected = by_cosine(QUERIES, 50)
        assert [ids(hits) for hits in first.search_many(QUERIES, 50)] == expected
        first.close()
        assert [ids(hits) for hits in second.search_many(QUERIES, 50)] == expected
        assert lessons(dsn) == 34


KILLED = """
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


def test_what_a_killed_run_left_goes_with_the_next(standin: str, run_python) -> None:
    with database(standin, "1.0") as dsn:
        dead = run_python(KILLED, dsn)
        assert dead.stdout.readline() == "in\n"
        dead.kill()
        dead.wait()
        assert lessons(dsn) == 1
        with psycopg.connect(dsn, autocommit=True) as other:
            # The server notices that nobody listens any more.
            other.execute(
                """SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
                   WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'"""
            )
        with filled(dsn):
            assert lessons(dsn) == 34
        assert lessons(dsn) == 0


def test_a_cold_session_searches_as_the_warm_one_and_rows_still_go(standin: str) -> None:
    with database(standin, "2.0") as dsn:
        with filled(dsn) as store:
            warm, state = [ids(hits) for hits in store.search_many(QUERIES[:6], 10)], dict(store.settings())
            for _ in range(3):
                assert store.chill() == ""
                assert [ids(hits) for hits in store.search_many(QUERIES[:6], 10)] == warm
                assert dict(store.settings()) == state
            with psycopg.connect(dsn) as other:
                count = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'recallbench' AND datname = %s"
                assert other.execute(count, (other.info.dbname,)).fetchone() == (2,)
        assert lessons(dsn) == 0


def test_pgvector_in_a_schema_of_its_own_serves_too(standin: str) -> None:
    with database(standin, "2.0", schema="Shelf") as dsn, filled(dsn) as store:
        assert [ids(hits) for hits in store.search_many(QUERIES, 10)] == by_cosine(QUERIES, 10)
        assert store.chill() == ""
        assert [ids(hits) for hits in store.search_many(QUERIES, 10)] == by_cosine(QUERIES, 10)


def test_equal_texts_stay_apart_where_equal_topics_are_one_lesson(standin: str) -> None:
    same = [replace(item, text="The very same words.") for item in ITEMS]
    with database(standin, "2.0-topical") as dsn, filled(dsn, items=same) as store:
        assert [len(hits) for hits in store.search_many(QUERIES, 50)] == [SIZE] * 140


@pytest.mark.parametrize(
    ("version", "found"),
    [("2.0-forgetful", "34 rows, 0 of them recallable"), ("1.0-dropping", "17 rows, 17 of them recallable")],
)
def test_lessons_that_get_lost_block_the_run(standin: str, version: str, found: str) -> None:
    with database(standin, version) as dsn:
        with pytest.raises(Blocked, match="does not keep every segment recallable") as raised, filled(dsn):
            pass
        assert raised.value.found == found
        assert raised.value.expected.startswith("34 rows")
        assert "triggers on pgmnemo.agent_lesson" in raised.value.remedy
        assert lessons(dsn) == 0


def test_fewer_than_asked_for_is_passed_on(standin: str) -> None:
    with database(standin, "1.0-short") as dsn, filled(dsn) as store:
        assert [len(hits) for hits in store.search_many(QUERIES, 50)] == [7] * 140


def test_the_two_depths_are_two_calls(standin: str) -> None:
    with database(standin, "1.0-fickle") as dsn, filled(dsn) as store:
        assert not store.prefix_stable
        assert ids(store.search(QUERIES[0], 10)) == list(range(SIZE - 1, SIZE - 11, -1))
        assert ids(store.search(QUERIES[0], 50)) == list(range(SIZE))


def test_notices_of_the_extension_are_counted(standin: str) -> None:
    with database(standin, "1.0-noisy") as dsn, filled(dsn) as store:
        assert store.evidence()["told by the extension"] == "nothing"
        list(store.search_many(QUERIES[:5], 10))
        list(store.search_many(QUERIES[:3], 50))
        assert store.evidence()["told by the extension"] == "8 x NOTICE: pgmnemo: looked at # rows"


def test_a_ranking_without_one_of_its_parts_is_no_result(standin: str) -> None:
    with (
        database(standin, "1.0-degrading") as dsn,
        pytest.raises(Blocked, match="left out a part of its ranking") as raised,
        filled(dsn),
    ):
        pass
    assert "degrading to vectors" in raised.value.found


def test_a_tenant_s_policy_is_satisfied(standin: str) -> None:
    with database(standin, "1.0-tenants") as dsn, plain_role(dsn, *EVERY_RIGHT) as plain:
        with filled(plain) as store:
            assert [ids(hits) for hits in store.search_many(QUERIES, 50)] == by_cosine(QUERIES, 50)
            assert lessons(dsn) == 34
        assert lessons(dsn) == 0


def test_a_command_that_was_interrupted_hinders_no_removal(standin: str) -> None:
    with database(standin, "1.0") as dsn:
        with filled(dsn) as store:
            assert lessons(dsn) == 34
            # As a signal leaves a connection: its answer was never taken, and it takes no other command.
            store._connection.pgconn.send_query(b"SELECT 1")
        assert lessons(dsn) == 0


def test_hidden_rows_block_the_run(standin: str) -> None:
    with database(standin, "1.0-hiding") as dsn, plain_role(dsn, *EVERY_RIGHT) as plain:
        with pytest.raises(Blocked, match="row-level security hides lessons") as raised, filled(plain):
            pass
        assert raised.value.expected == "34 rows"
        assert raised.value.found == "17 visible"
        assert "BYPASSRLS" in raised.value.remedy


def test_a_policy_that_refuses_rows_blocks_the_run(standin: str) -> None:
    with database(standin, "1.0-closed") as dsn, plain_role(dsn, *EVERY_RIGHT) as plain:
        with pytest.raises(Blocked, match="row-level security refuses lessons of this role") as raised, filled(plain):
            pass
        assert "new row violates row-level security policy" in raised.value.found
        assert "BYPASSRLS" in raised.value.remedy


@pytest.mark.parametrize(
    ("rights", "problem", "told"),
    [
        ((), "may not use the schema pgmnemo", "GRANT USAGE ON SCHEMA pgmnemo TO"),
        (EVERY_RIGHT[:1], "SELECT, INSERT, UPDATE, DELETE", "GRANT"),
        ((*EVERY_RIGHT[:1], "SELECT ON pgmnemo.agent_lesson"), "INSERT, UPDATE, DELETE", "GRANT"),
        (EVERY_RIGHT[:2], "USAGE on its sequence", "GRANT"),
    ],
)
def test_missing_rights_are_named(standin: str, rights: tuple[str, ...], problem: str, told: str) -> None:
    with (
        database(standin, "1.0") as dsn,
        plain_role(dsn, *rights) as plain,
        pytest.raises(Blocked) as raised,
        filled(plain),
    ):
        pass
    assert problem in str(raised.value)
    assert told in raised.value.remedy
    assert "recallbench_plain_" in str(raised.value)


def test_a_role_that_may_make_no_temporary_table_is_told(standin: str) -> None:
    with database(standin, "1.0") as dsn, plain_role(dsn, *EVERY_RIGHT) as plain:
        with psycopg.connect(dsn, autocommit=True) as owner:
            owner.execute(f"REVOKE TEMP ON DATABASE {owner.info.dbname} FROM PUBLIC".encode())
        with pytest.raises(Blocked, match="temporary tables") as raised, filled(plain):
            pass
        assert raised.value.remedy.startswith("GRANT TEMP ON DATABASE")


@pytest.mark.parametrize(
    ("version", "function", "problem"),
    [
        (None, "recall_lessons", "the database has no extension pgmnemo"),
        ("1.0", "recall_hybrid", "has no function pgmnemo.recall_hybrid"),
        ("1.0-empty", "recall_lessons", "has no function pgmnemo.recall_lessons"),
        ("1.0-uuid", "recall_lessons", "can't be called as this version declares it"),
        ("1.0-fuller", "recall_lessons", "is not as any known version"),
    ],
)
def test_what_can_t_be_measured_is_told_before_anything_is_written(
    standin: str, version: str | None, function: str, problem: str
) -> None:
    with database(standin, version) as dsn:
        store = PgmnemoStore(dsn, function)
        with pytest.raises(Blocked, match=problem):
            store.prepare(DIMS)
        with psycopg.connect(dsn) as other:
            left = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'recallbench' AND datname = %s"
            # A server takes a moment to notice that a client is gone.
            deadline = time.monotonic() + 10
            while other.execute(left, (other.info.dbname,)).fetchone() != (0,):
                assert time.monotonic() < deadline, "a connection was left open"
                time.sleep(0.02)
        with pytest.raises(Blocked, match="not open"):
            store.search(QUERIES[0], 10)
        store.close()


def test_without_a_server_the_remedy_names_one() -> None:
    with pytest.raises(Blocked, match="no server with the extension pgmnemo is named") as raised:
        PgmnemoStore("").prepare(DIMS)
    assert raised.value.expected == "--dsn, or PGMNEMO_DSN"


def test_vectors_that_do_not_fit_are_refused(standin: str) -> None:
    with database(standin, "1.0") as dsn:
        store = PgmnemoStore(dsn)
        with pytest.raises(UsageError, match="can't hold these vectors") as raised:
            store.prepare(1025)
        assert raised.value.found == "1025 numbers"
        store.prepare(DIMS)
        with pytest.raises((InputError, UsageError)):
            store.ingest(ITEMS[:1], np.full((1, DIMS), np.nan, np.float32))
        with pytest.raises((InputError, UsageError)):
            store.ingest(ITEMS[:1], None)
        with pytest.raises((InputError, UsageError)):
            store.search(replace(QUERIES[0], vector=None), 10)
        store.close()


def test_a_server_that_goes_away_is_told(standin: str) -> None:
    with database(standin, "1.0") as dsn, filled(dsn) as store:
        with psycopg.connect(dsn, autocommit=True) as other:
            other.execute(
                """SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
                   WHERE datname = current_database() AND application_name = 'recallbench'"""
            )
        with pytest.raises(Blocked, match="the server was lost while calling pgmnemo"):
            store.search(QUERIES[0], 10)


def test_a_function_that_may_not_be_executed_is_told_with_its_grant(standin: str) -> None:
    with database(standin, "1.0") as dsn, plain_role(dsn, *EVERY_RIGHT) as plain:
        with psycopg.connect(dsn, autocommit=True) as owner:
            owner.execute("REVOKE EXECUTE ON FUNCTION pgmnemo.recall_lessons FROM PUBLIC")
        with pytest.raises(Blocked) as raised, filled(plain) as store:
            store.search(QUERIES[0], 10)
    assert "recall_lessons" in str(raised.value)
    assert raised.value.remedy.startswith("GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA pgmnemo TO …;")


def test_settings_of_the_database_are_put_back_to_the_defaults(standin: str) -> None:
    with database(standin, "1.0") as dsn:
        with psycopg.connect(dsn, autocommit=True) as owner:
            owner.execute(
                "CREATE FUNCTION pgmnemo.reader() RETURNS text LANGUAGE sql AS "
                "$$SELECT current_setting('pgmnemo.include_unverified', true)$$"
            )
        inherited = make_conninfo(dsn, options="-c pgmnemo.include_unverified=on")
        with filled(inherited) as store:
            assert store.settings()["pgmnemo.include_unverified"] == "unset"
            told = store.evidence()["settings put back to the extension's defaults"]
            assert told == "pgmnemo.include_unverified (was on)"
            assert store.evidence()["recallable"] == "34 of 34 segments, each scope asked for all of its own"


def test_a_fresh_session_gets_the_tenant_too(standin: str) -> None:
    with database(standin, "1.0") as dsn, filled(dsn) as store:
        store.search(QUERIES[1], 10)
        before = store.settings()["pgmnemo.tenant_id"]
        assert store.chill() == ""
        store.search(QUERIES[1], 10)
        assert store.settings()["pgmnemo.tenant_id"] == before == "1000000001"


def test_a_function_that_recalls_nothing_blocks_the_run(standin: str) -> None:
    with database(standin, "1.0") as dsn:
        with psycopg.connect(dsn, autocommit=True) as owner:
            row = owner.execute("SELECT pg_get_functiondef('pgmnemo.recall_lessons'::regproc)").fetchone()
            assert row is not None
            owner.execute(row[0].replace("WHERE ", "WHERE false AND ", 1).encode())
        with pytest.raises(Blocked, match="recalls nothing of what was put in"), filled(dsn):
            pass
        assert lessons(dsn) == 0
