"""Each obstacle to measuring pgmnemo is named, with its remedy."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import psycopg
import pytest

from recallbench.errors import Blocked, InputError, UsageError
from recallbench.stores.pgmnemo.pgmnemo import PgmnemoStore
from stores.pgmnemo.filled_pgmnemo import (
    DIMS,
    ITEMS,
    QUERIES,
    by_cosine,
    filled,
    ids,
    lessons,
)
from stores.standin import EVERY_RIGHT, database, plain_role


@pytest.mark.parametrize(
    ("version", "complaint"),
    [("2.0-forgetful", "34 rows, 0 of them recallable"), ("1.0-dropping", "17 rows, 17 of them recallable")],
)
def test_lessons_that_get_lost_block_the_run(standin: str, version: str, complaint: str) -> None:
    with database(standin, version) as dsn:
        with pytest.raises(Blocked, match="does not keep every segment recallable") as caught, filled(dsn):
            pass
        assert caught.value.found == complaint
        assert caught.value.expected.startswith("34 rows")
        assert "triggers on pgmnemo.agent_lesson" in caught.value.remedy
        assert lessons(dsn) == 0


def test_a_ranking_without_one_of_its_parts_is_no_result(standin: str) -> None:
    with (
        database(standin, "1.0-degrading") as dsn,
        pytest.raises(Blocked, match="left out a part of its ranking") as caught,
        filled(dsn),
    ):
        pass
    assert "degrading to vectors" in caught.value.found


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
            # A signal leaves a connection like this: its answer is unread, and it accepts no other command.
            store._connection.pgconn.send_query(b"SELECT 1")
        assert lessons(dsn) == 0


def test_hidden_rows_block_the_run(standin: str) -> None:
    with database(standin, "1.0-hiding") as dsn, plain_role(dsn, *EVERY_RIGHT) as plain:
        with pytest.raises(Blocked, match="row-level security hides lessons") as caught, filled(plain):
            pass
        assert caught.value.expected == "34 rows"
        assert caught.value.found == "17 visible"
        assert "BYPASSRLS" in caught.value.remedy


def test_a_policy_that_refuses_rows_blocks_the_run(standin: str) -> None:
    with database(standin, "1.0-closed") as dsn, plain_role(dsn, *EVERY_RIGHT) as plain:
        with pytest.raises(Blocked, match="row-level security refuses lessons of this role") as caught, filled(plain):
            pass
        assert "new row violates row-level security policy" in caught.value.found
        assert "BYPASSRLS" in caught.value.remedy


@pytest.mark.parametrize(
    ("rights", "problem", "remedy"),
    [
        ((), "may not use the schema pgmnemo", "GRANT USAGE ON SCHEMA pgmnemo TO"),
        (EVERY_RIGHT[:1], "SELECT, INSERT, UPDATE, DELETE", "GRANT"),
        ((*EVERY_RIGHT[:1], "SELECT ON pgmnemo.agent_lesson"), "INSERT, UPDATE, DELETE", "GRANT"),
        (EVERY_RIGHT[:2], "USAGE on its sequence", "GRANT"),
    ],
)
def test_missing_rights_are_named(standin: str, rights: tuple[str, ...], problem: str, remedy: str) -> None:
    with (
        database(standin, "1.0") as dsn,
        plain_role(dsn, *rights) as plain,
        pytest.raises(Blocked) as caught,
        filled(plain),
    ):
        pass
    assert problem in str(caught.value)
    assert remedy in caught.value.remedy
    assert "recallbench_plain_" in str(caught.value)


def test_a_role_that_may_make_no_temporary_table_is_refused(standin: str) -> None:
    with database(standin, "1.0") as dsn, plain_role(dsn, *EVERY_RIGHT) as plain:
        with psycopg.connect(dsn, autocommit=True) as owner:
            owner.execute(f"REVOKE TEMP ON DATABASE {owner.info.dbname} FROM PUBLIC".encode())
        with pytest.raises(Blocked, match="temporary tables") as caught, filled(plain):
            pass
        assert caught.value.remedy.startswith("GRANT TEMP ON DATABASE")


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
def test_a_database_that_can_t_be_measured_is_refused_before_anything_is_written(
    standin: str, version: str | None, function: str, problem: str
) -> None:
    with database(standin, version) as dsn:
        store = PgmnemoStore(dsn, function)
        with pytest.raises(Blocked, match=problem):
            store.prepare(DIMS)
        with psycopg.connect(dsn, autocommit=True) as other:
            left = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'recallbench' AND datname = %s"
            # A server takes a moment to notice that a client is gone; within a transaction it repeats its first answer.
            deadline = time.monotonic() + 10
            while other.execute(left, (other.info.dbname,)).fetchone() != (0,):
                assert time.monotonic() < deadline, "a connection was left open"
                time.sleep(0.02)
        with pytest.raises(Blocked, match="not open"):
            store.search(QUERIES[0], 10)
        store.close()


def test_without_a_server_the_remedy_names_one() -> None:
    with pytest.raises(Blocked, match="no server with the extension pgmnemo is named") as caught:
        PgmnemoStore("").prepare(DIMS)
    assert caught.value.expected == "--dsn, or PGMNEMO_DSN"


def test_vectors_that_do_not_fit_are_refused(standin: str) -> None:
    with database(standin, "1.0") as dsn:
        store = PgmnemoStore(dsn)
        with pytest.raises(UsageError, match="can't hold these vectors") as caught:
            store.prepare(1025)
        assert caught.value.found == "1025 numbers"
        store.prepare(DIMS)
        with pytest.raises((InputError, UsageError)):
            store.ingest(ITEMS[:1], np.full((1, DIMS), np.nan, np.float32))
        with pytest.raises((InputError, UsageError)):
            store.ingest(ITEMS[:1], None)
        with pytest.raises((InputError, UsageError)):
            store.search(replace(QUERIES[0], vector=None), 10)
        store.close()


def test_a_server_that_goes_away_blocks_the_run(standin: str) -> None:
    with database(standin, "1.0") as dsn, filled(dsn) as store:
        with psycopg.connect(dsn, autocommit=True) as other:
            other.execute(
                """SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
                   WHERE datname = current_database() AND application_name = 'recallbench'"""
            )
        with pytest.raises(Blocked, match="the server was lost while calling pgmnemo"):
            store.search(QUERIES[0], 10)


def test_a_function_that_may_not_be_executed_is_named_with_its_grant(standin: str) -> None:
    with database(standin, "1.0") as dsn, plain_role(dsn, *EVERY_RIGHT) as plain:
        with psycopg.connect(dsn, autocommit=True) as owner:
            owner.execute("REVOKE EXECUTE ON FUNCTION pgmnemo.recall_lessons FROM PUBLIC")
        with pytest.raises(Blocked) as caught, filled(plain) as store:
            store.search(QUERIES[0], 10)
    assert "recall_lessons" in str(caught.value)
    assert caught.value.remedy.startswith("GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA pgmnemo TO …;")


def test_a_function_that_recalls_nothing_blocks_the_run(standin: str) -> None:
    with database(standin, "1.0") as dsn:
        with psycopg.connect(dsn, autocommit=True) as owner:
            row = owner.execute("SELECT pg_get_functiondef('pgmnemo.recall_lessons'::regproc)").fetchone()
            assert row is not None
            owner.execute(row[0].replace("WHERE ", "WHERE false AND ", 1).encode())
        with pytest.raises(Blocked, match="recalls nothing of what was put in"), filled(dsn):
            pass
        assert lessons(dsn) == 0
