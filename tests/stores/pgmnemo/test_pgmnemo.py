"""The store against stand-ins of the extension; test_published_pgmnemo.py has the real one."""

from __future__ import annotations

import threading
import time
from dataclasses import replace

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from recallbench.errors import Blocked
from recorded_progress import RecordedProgress
from stores.pgmnemo.filled_pgmnemo import (
    ITEMS,
    QUERIES,
    SIZE,
    by_cosine,
    filled,
    ids,
    lessons,
)
from stores.standin import database


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
            rankings = [ids(hits) for hits in store.search_many(QUERIES, k)]
            assert rankings == by_cosine(QUERIES, k)
            assert {len(row) for row in rankings} == {min(k, SIZE)}
        assert ids(store.search(QUERIES[3], 10)) == by_cosine(QUERIES[3:4], 10)[0]
        assert store.version() == version
        assert store.evidence()["function"].startswith(f"pgmnemo.{function}(")
        assert ("given" in store.evidence()["query text"]) == (function != "recall_fast")


def test_the_question_reaches_the_lexical_part(standin: str) -> None:
    with database(standin, "2.0") as dsn, filled(dsn) as store:
        plain = dict(store.search(replace(QUERIES[0], text=""), 50))
        scores = dict(store.search(replace(QUERIES[0], text="bakery"), 50))
        assert {id for id, score in scores.items() if score > plain[id]} == {4, 10, 16}


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
            tables, indexes = "tables of the schema pgmnemo", "indexes of the schema pgmnemo"
            held = store.stored_bytes()
            assert held.keys() == {tables, indexes}
            assert held[tables] > 0


def test_a_short_statement_timeout_of_the_role_is_lifted(standin: str) -> None:
    with database(standin, "1.0-slow") as dsn:
        hurried = make_conninfo(dsn, options="-cstatement_timeout=100")
        with filled(hurried) as store:
            assert ids(store.search(QUERIES[0], 5)) == by_cosine(QUERIES[:1], 5)[0]


def test_a_statement_that_is_cancelled_blocks_the_run(standin: str) -> None:
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
            # With its own settings the function would write.
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
            # A row of others is never an answer, even one of the same role.
            assert all(len(hits) == SIZE for hits in store.search_many(QUERIES, 50))
        assert lessons(dsn) == 1
        store.close()


def test_two_runs_side_by_side_use_different_projects(standin: str) -> None:
    numbers = "SELECT DISTINCT project_id FROM pgmnemo.agent_lesson ORDER BY 1"
    with database(standin, "2.0") as dsn, filled(dsn) as first, filled(dsn) as second:
        with psycopg.connect(dsn) as other:
            projects = [number for (number,) in other.execute(numbers).fetchall()]
        assert projects == [1_000_000_000, 1_000_000_001, 1_000_100_000, 1_000_100_001]
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
            with psycopg.connect(dsn, autocommit=True) as other:
                count = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'recallbench' AND datname = %s"
                # A server takes a moment to notice that a client is gone.
                deadline = time.monotonic() + 10
                while other.execute(count, (other.info.dbname,)).fetchone() != (2,):
                    assert time.monotonic() < deadline, "sessions were left open"
                    time.sleep(0.02)
        assert lessons(dsn) == 0


def test_a_holder_that_was_cut_off_while_another_searched_is_no_end_of_the_run(standin: str) -> None:
    with database(standin, "2.0") as dsn:
        with filled(dsn) as store:
            store._progress = RecordedProgress()
            assert store.chill() == ""
            with psycopg.connect(dsn, autocommit=True) as other:
                other.execute("SELECT pg_terminate_backend(pid, 10000) FROM pg_locks WHERE locktype = 'advisory'")
            assert len(list(store.search_many(QUERIES[:6], 10))) == 6
        assert store._progress.notes == [
            "its lessons stay on the server, since terminating connection due to administrator command; "
            "the next run there removes them"
        ]
        assert lessons(dsn) == 34
        with filled(dsn):
            assert lessons(dsn) == 34
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


def test_fewer_hits_than_k_are_passed_on(standin: str) -> None:
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
            changed = store.evidence()["settings put back to the extension's defaults"]
            assert changed == "pgmnemo.include_unverified (was on)"
            assert store.evidence()["recallable"] == "34 of 34 segments, each scope asked for all of its own"


def test_a_fresh_session_gets_the_tenant_too(standin: str) -> None:
    with database(standin, "1.0") as dsn, filled(dsn) as store:
        store.search(QUERIES[1], 10)
        before = store.settings()["pgmnemo.tenant_id"]
        assert store.chill() == ""
        store.search(QUERIES[1], 10)
        assert store.settings()["pgmnemo.tenant_id"] == before == "1000000001"


def test_another_caller_has_a_session_of_its_own_and_leaves_the_rows(standin: str) -> None:
    with database(standin, "2.0") as dsn:
        with filled(dsn) as store:
            alone = [ids(hits) for hits in store.search_many(QUERIES[:6], 10)]
            assert store.one_caller == ""
            handle = store.another_caller()
            assert handle.round_trip()
            assert [ids(hits) for hits in handle.search_many(QUERIES[:6], 10)] == alone
            handle.close()
            assert lessons(dsn) == 34
            assert [ids(hits) for hits in store.search_many(QUERIES[:6], 10)] == alone
        assert lessons(dsn) == 0
