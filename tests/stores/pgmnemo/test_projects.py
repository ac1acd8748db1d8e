from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from recallbench.errors import Blocked
from recallbench.stores.pgmnemo import projects as module
from recallbench.stores.pgmnemo.projects import Projects, claim_projects, release, remove_rows
from stores.standin import database

ROW = """INSERT INTO pgmnemo.agent_lesson (role, project_id, topic, lesson_text, source_run_id, commit_sha)
         VALUES ('somebody', %s, 'boats', 'The boat leaks.', %s, 'abc')"""
OURS_0, OURS_1 = 1_000_000_000, 1_000_100_000


@pytest.fixture
def dsn(standin: str) -> Iterator[str]:
    with database(standin, "1.0") as address:
        yield address


@pytest.fixture
def session(dsn: str) -> Iterator[psycopg.Connection]:
    with psycopg.connect(dsn, autocommit=True) as connection:
        yield connection


def left(connection: psycopg.Connection) -> list[tuple[int, str | None]]:
    return connection.execute("SELECT project_id, source_run_id FROM pgmnemo.agent_lesson ORDER BY 1, 2").fetchall()


def test_a_range_of_project_numbers_follows_from_its_index() -> None:
    assert Projects(0).number(0) == OURS_0
    assert Projects(1).number(7) == OURS_1 + 7
    assert Projects(1).span == (OURS_1, 1_000_200_000)
    assert Projects(3).mark == "recallbench-3"
    # The last of them still is an int of Postgres.
    assert Projects(module.RUNS - 1).span[1] < 2**31


def test_living_runs_hold_different_ranges_and_a_repeat_gets_the_same(dsn: str, session) -> None:
    first = claim_projects(session)
    with psycopg.connect(dsn, autocommit=True) as other:
        assert (first, claim_projects(other)) == (Projects(0), Projects(1))
        release(session, first)
        assert claim_projects(session) == Projects(0)
        # The server lets go of a closed connection in its own time.
        session.execute("SELECT pg_terminate_backend(%s, 10000)", (other.info.backend_pid,))
    with psycopg.connect(dsn, autocommit=True) as third:
        assert claim_projects(third) == Projects(1)


def test_rows_of_a_dead_run_go_and_those_of_a_living_one_stay(dsn: str, session) -> None:
    living = claim_projects(session)
    session.execute(ROW, (OURS_0 + 5, living.mark))
    session.execute(ROW, (OURS_1 + 5, "recallbench-1"))
    with psycopg.connect(dsn, autocommit=True) as other:
        assert claim_projects(other) == Projects(1)
        assert left(other) == [(OURS_0 + 5, "recallbench-0")]


def test_somebody_s_own_lessons_are_neither_used_nor_removed(dsn: str, session) -> None:
    session.execute(ROW, (OURS_0 + 99_999, "nightly"))
    session.execute(ROW, (OURS_1, None))
    session.execute(ROW, (3, "recallbench-2"))
    assert claim_projects(session) == Projects(2)
    others = [(3, "recallbench-2"), (OURS_0 + 99_999, "nightly"), (OURS_1, None)]
    assert left(session) == others
    with psycopg.connect(dsn, autocommit=True) as other:
        # Nobody holds a lock on the ranges that were passed over.
        locks = other.execute(
            """SELECT objid::int FROM pg_locks l JOIN pg_database d ON d.oid = l.database
               WHERE locktype = 'advisory' AND datname = current_database()"""
        ).fetchall()
    assert locks == [(2,)]


def test_only_marked_rows_of_the_range_are_removed(session) -> None:
    for number, mark in ((OURS_0, "recallbench-0"), (OURS_0 + 1, "nightly"), (OURS_1, "recallbench-0")):
        session.execute(ROW, (number, mark))
    remove_rows(session, Projects(0))
    assert left(session) == [(OURS_0 + 1, "nightly"), (OURS_1, "recallbench-0")]


def test_no_free_range_blocks_the_run(session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "RUNS", 1)
    session.execute(ROW, (OURS_0, "nightly"))
    with pytest.raises(Blocked, match="no project numbers are free") as caught:
        claim_projects(session)
    assert caught.value.found == "1 ranges in use"
