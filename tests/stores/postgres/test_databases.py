from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from recallbench.errors import Blocked
from recallbench.stores.postgres import databases as module
from recallbench.stores.postgres.databases import MARK, NotInstalled, database_with, sweep
from stores.postgres.living_runs import wait_for_runs
from versioned import BROKEN, GRUDGING, databases, versioned_server

RUN = """
import sys
from recallbench.stores.postgres.databases import database_with

with database_with(sys.argv[1], "pgmnemo", sys.argv[2]) as own:
    print(own, flush=True)
    sys.stdin.readline()
"""

INTERRUPTED = """
import signal, sys, time
from recallbench.errors import Blocked
from recallbench.stores.postgres.databases import database_with

signal.signal(signal.SIGALRM, signal.default_int_handler)
started = time.monotonic()
with database_with(sys.argv[1], "pgmnemo", "1.0"):
    pass
whole = time.monotonic() - started
for i in range(1, 41):
    try:
        signal.setitimer(signal.ITIMER_REAL, whole * i / 36)
        with database_with(sys.argv[1], "pgmnemo", "1.0"):
            pass
        time.sleep(whole)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
    signal.setitimer(signal.ITIMER_REAL, 0)
    from psycopg import connect
    with connect(sys.argv[1]) as session:
        rows = session.execute("SELECT datname FROM pg_database WHERE datname LIKE 'recall%'").fetchall()
    if rows:
        print("left", i, rows, flush=True)
"""


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with versioned_server() as running:
        yield running.dsn


@pytest.fixture
def session(server: str) -> Iterator[psycopg.Connection]:
    with psycopg.connect(server, autocommit=True) as connection:
        yield connection


def name_of(dsn: str) -> str:
    return str(conninfo_to_dict(dsn)["dbname"])


def test_each_version_has_a_database_of_its_own_that_is_dropped(server: str) -> None:
    for version in ("1.0", "2.0"):
        with database_with(server, "pgmnemo", version) as own:
            with psycopg.connect(own) as connection:
                query = (
                    "SELECT extversion, current_setting('server_encoding') FROM pg_extension WHERE extname='pgmnemo'"
                )
                assert connection.execute(query).fetchone() == (version, "UTF8")
            # The next one has the same name, so what is written of it does not differ from run to run.
            assert databases(server) == {"recallbench_version_0"} == {name_of(own)}
        assert databases(server) == set()


@pytest.mark.parametrize("fault", [ValueError, KeyboardInterrupt])
def test_the_database_is_dropped_whatever_ends_the_block(server: str, fault: type[BaseException]) -> None:
    sessions = []

    def interrupted() -> None:
        with database_with(server, "pgmnemo", "1.0") as own:
            sessions.append(psycopg.connect(own))  # still there when the database is to go
            raise fault

    with pytest.raises(fault):
        interrupted()
    assert databases(server) == set()
    sessions[0].close()


def test_the_database_is_dropped_although_a_ctrl_c_left_an_answer_unread(
    server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    create = module._create

    def interrupted(keeper: psycopg.Connection, slot: int, name: str) -> None:
        create(keeper, slot, name)
        keeper.pgconn.send_query(b"SELECT pg_sleep(.1)")
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "_create", interrupted)
    with pytest.raises(KeyboardInterrupt), database_with(server, "pgmnemo", "1.0"):
        pass
    assert databases(server) == set()


@pytest.mark.marked
def test_ctrl_c_at_any_moment_leaves_no_database(server: str, run_python) -> None:
    printed, _ = run_python(INTERRUPTED, server).communicate(timeout=300)
    assert set(printed.split("\n")) == {"interrupted", ""}
    assert printed.count("interrupted") > 20


def test_a_version_that_is_not_offered_is_refused(server: str) -> None:
    with pytest.raises(NotInstalled) as caught, database_with(server, "pgmnemo", "7.7"):
        pass
    assert caught.value.problem == "the server does not offer pgmnemo 7.7"
    assert "1.0, " in caught.value.expected
    with pytest.raises(NotInstalled, match="does not offer no_such 1") as caught, database_with(server, "no_such", "1"):
        pass
    assert caught.value.found == "no version of no_such at all"


def test_a_version_that_fails_to_install_leaves_no_database(server: str) -> None:
    with pytest.raises(NotInstalled) as caught, database_with(server, "pgmnemo", BROKEN):
        pass
    assert caught.value.problem == f"pgmnemo {BROKEN} could not be installed"
    assert caught.value.found == "function no_such_thing() does not exist"
    assert databases(server) == set()


def test_a_role_without_the_rights_gets_a_remedy(server: str, session: psycopg.Connection) -> None:
    session.execute("CREATE ROLE plain LOGIN PASSWORD 'of-the-role'")
    try:
        dsn = make_conninfo(server, user="plain", password="of-the-role")
        with pytest.raises(Blocked) as caught, database_with(dsn, "pgmnemo", "1.0"):
            pass
        assert not isinstance(caught.value, NotInstalled)
        assert caught.value.problem.startswith("the role may not create databases")
        assert "CREATEDB" in caught.value.remedy
        session.execute("ALTER ROLE plain CREATEDB")
        with pytest.raises(NotInstalled) as caught, database_with(dsn, "pgmnemo", "1.0"):
            pass
        assert caught.value.found == 'permission denied to create extension "vector"'
        assert "superuser" in caught.value.remedy
        assert databases(server) == set()
    finally:
        session.execute("DROP ROLE plain")


def test_runs_in_two_databases_leave_each_other_alone(server: str, session: psycopg.Connection, run_python) -> None:
    session.execute("CREATE DATABASE elsewhere")
    try:
        other = run_python(RUN, make_conninfo(server, dbname="elsewhere"), "1.0")
        theirs = name_of(other.stdout.readline().strip())
        with database_with(server, "pgmnemo", "1.0") as own:
            # Locks of another database bind nobody here; theirs is left alone all the same.
            assert databases(server) == {"elsewhere", theirs, name_of(own)}
            assert len({theirs, name_of(own)}) == 2
        assert databases(server) == {"elsewhere", theirs}
        other.communicate("go\n")
        assert databases(server) == {"elsewhere"}
    finally:
        session.execute("DROP DATABASE elsewhere WITH (FORCE)")


def test_what_a_killed_run_left_goes_with_the_next(server: str, session: psycopg.Connection, run_python) -> None:
    dead, living = run_python(RUN, server, "1.0"), run_python(RUN, server, "2.0")
    dead_name, living_name = (name_of(process.stdout.readline().strip()) for process in (dead, living))
    dead.kill()
    dead.wait()
    wait_for_runs(session, 1)
    assert databases(server) == {dead_name, living_name}
    assert sweep(session) == [dead_name]
    assert databases(server) == {living_name}
    living.communicate("go\n")
    assert databases(server) == set()


def test_a_database_of_a_run_killed_while_it_installs_is_swept(
    server: str, session: psycopg.Connection, run_python
) -> None:
    dead = run_python(RUN, server, GRUDGING)
    installing = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'CREATE EXTENSION%' AND datname LIKE 'recall%'"
    while session.execute(installing).fetchone() == (0,):
        assert dead.poll() is None
    dead.kill()
    dead.wait()
    # The server does not know yet that nobody waits for the answer.
    session.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname LIKE 'recall%'")
    wait_for_runs(session, 0)
    with database_with(server, "pgmnemo", "1.0") as own:
        assert databases(server) == {name_of(own)}
    assert databases(server) == set()


def test_what_an_interrupted_drop_left_goes_with_the_next(server: str, session: psycopg.Connection) -> None:
    session.execute(f"CREATE DATABASE recallbench_version_0 CONNECTION LIMIT {MARK}")
    # Postgres marks a database whose DROP was interrupted like this; here it takes a write to the catalogue.
    session.execute("UPDATE pg_database SET datconnlimit = -2 WHERE datname = 'recallbench_version_0'")
    with database_with(server, "pgmnemo", "1.0") as own:
        assert databases(server) == {name_of(own)} == {"recallbench_version_0"}
    assert databases(server) == set()


def test_a_database_that_only_has_such_a_name_stays(server: str, session: psycopg.Connection) -> None:
    session.execute("CREATE DATABASE recallbench_version_0")
    session.execute(f"CREATE DATABASE recallbench_version_notes CONNECTION LIMIT {MARK}")
    try:
        assert sweep(session) == []
        with database_with(server, "pgmnemo", "1.0") as own:
            assert name_of(own) == "recallbench_version_1"
        assert databases(server) == {"recallbench_version_0", "recallbench_version_notes"}
    finally:
        session.execute("DROP DATABASE recallbench_version_0")
        session.execute("DROP DATABASE recallbench_version_notes")


def test_a_database_of_another_role_stays(server: str, session: psycopg.Connection) -> None:
    session.execute("CREATE ROLE stranger LOGIN CREATEDB PASSWORD 'of-the-role'")
    session.execute(f"CREATE DATABASE recallbench_version_5 CONNECTION LIMIT {MARK}")
    try:
        with psycopg.connect(make_conninfo(server, user="stranger", password="of-the-role"), autocommit=True) as other:
            assert sweep(other) == []
        assert sweep(session) == ["recallbench_version_5"]
    finally:
        session.execute("DROP DATABASE IF EXISTS recallbench_version_5")
        session.execute("DROP ROLE stranger")
