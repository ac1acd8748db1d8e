"""Servers that lack something, or go away."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from recallbench.errors import Blocked
from recallbench.stores.pgvector.pgvector import PgvectorStore
from recallbench.stores.postgres.binaries import Install, find_install
from recallbench.stores.postgres.embedded import EmbeddedServer
from recallbench.stores.postgres.folders import birth
from recallbench.stores.postgres.postgres import (
    connect,
    database_errors,
    has_extension,
    ready_server,
    server_facts,
    unmet_requirement,
)
from recallbench.stores.registry import store_status
from recallbench.stores.store import Item, Query


@pytest.fixture
def altered(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Install]:
    """A copy of the installed server whose extension files may be changed."""
    folder = Path(__import__("tempfile").mkdtemp(prefix="recallbench-test-"))
    folder.chmod(0o755)
    yield find_install().copied_to(folder / "install")
    shutil.rmtree(folder)


def test_a_server_whose_pgvector_is_incomplete_or_missing_blocks(altered: Install) -> None:
    next(altered.root.rglob("vector.so")).unlink()
    with EmbeddedServer(install=altered) as server:
        with pytest.raises(Blocked, match="not complete") as caught:
            PgvectorStore(server.dsn).prepare(3)
        assert "again" in caught.value.remedy
        for file in (altered.share / "extension").glob("vector*"):
            file.unlink()
        with pytest.raises(Blocked, match="lacks pgvector") as caught:
            PgvectorStore(server.dsn).prepare(3)
        assert "no pgvector" in caught.value.found
        assert "install pgvector" in caught.value.remedy
        status = store_status("pgvector", (server.dsn,), {})
        assert (status.ready, "lacks pgvector" in status.detail) == (False, True)


def test_a_server_with_an_old_pgvector_blocks(altered: Install) -> None:
    extension = altered.share / "extension"
    control = extension / "vector.control"
    current = next(line.split("'")[1] for line in control.read_text().splitlines() if "default_version" in line)
    control.write_text(control.read_text().replace(f"'{current}'", "'0.4.4'"))
    shutil.copy(extension / f"vector--{current}.sql", extension / "vector--0.4.4.sql")
    (extension / "vector--0.4.4.sql").chmod(0o644)
    with EmbeddedServer(install=altered) as server:
        with pytest.raises(Blocked, match="pgvector is too old") as caught:
            PgvectorStore(server.dsn).prepare(3)
        assert "pgvector 0.4.4" in caught.value.found
        assert "pgvector 0.5.0" in caught.value.expected
        assert "install a newer" in caught.value.remedy
        # Installed long ago, while the server has newer files: an update is all it takes.
        with psycopg.connect(server.dsn, autocommit=True) as connection:
            connection.execute("CREATE EXTENSION vector")
            control.write_text(control.read_text().replace("'0.4.4'", f"'{current}'"))
            with pytest.raises(Blocked, match="pgvector is too old") as caught:
                ready_server(connection)
        assert caught.value.remedy.startswith("ALTER EXTENSION vector UPDATE;")


def test_the_version_is_the_servers_own_word_each_time(altered: Install) -> None:
    extension = altered.share / "extension"
    control = (extension / "vector.control").read_text()
    current = next(line.split("'")[1] for line in control.splitlines() if "default_version" in line)
    update = extension / f"vector--{current}--{current}99.sql"
    update.write_text("")
    update.chmod(0o644)
    with EmbeddedServer(install=altered) as server:
        store = PgvectorStore(server.dsn)
        store.prepare(2)
        try:
            assert f"pgvector {current})" in store.version()
            # Someone updates the extension while the run is under way.
            with psycopg.connect(server.dsn, autocommit=True) as other:
                other.execute(f"ALTER EXTENSION vector UPDATE TO '{current}99'".encode())
            assert f"pgvector {current}99)" in store.version()
            assert store.evidence()["pgvector"] == f"{current}99"
        finally:
            store.close()


def test_a_database_that_is_not_utf8_blocks(dsn: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
        try:
            with pytest.raises(Blocked, match="can't hold every text") as caught:
                PgvectorStore(make_conninfo(dsn, dbname="latin")).prepare(3)
        finally:
            connection.execute("DROP DATABASE latin")
    assert "LATIN1" in caught.value.found


def test_a_role_without_rights_blocks(dsn: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("CREATE DATABASE guarded")
        connection.execute("CREATE ROLE guest LOGIN PASSWORD 'of-the-role'")
        guest = make_conninfo(dsn, dbname="guarded", user="guest", password="of-the-role")
        owner = make_conninfo(dsn, dbname="guarded")
        try:
            # As pgvector ships it, a role needs the right to create in the database for the extension as well.
            with pytest.raises(Blocked, match="may not install it") as caught:
                PgvectorStore(guest).prepare(3)
            assert "CREATE EXTENSION vector;" in caught.value.remedy
            with psycopg.connect(owner, autocommit=True) as inside:
                inside.execute("CREATE EXTENSION vector")
            with pytest.raises(Blocked, match="lacks a right") as caught:
                PgvectorStore(guest).prepare(3)
            assert "GRANT CREATE ON DATABASE" in caught.value.remedy
            connection.execute("GRANT CREATE ON DATABASE guarded TO guest")
            store = PgvectorStore(guest)
            store.prepare(3)
            store.close()
        finally:
            connection.execute("DROP DATABASE guarded")
            connection.execute("DROP ROLE guest")


def test_pgvector_may_live_in_any_schema(dsn: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("CREATE DATABASE elsewhere")
        there = make_conninfo(dsn, dbname="elsewhere")
        try:
            with psycopg.connect(there, autocommit=True) as inside:
                inside.execute('CREATE SCHEMA "odd ""name"; CREATE EXTENSION vector SCHEMA "odd ""name"')
            store = PgvectorStore(there)
            store.prepare(2)
            store.ingest([Item(1, 1, "x", None, 0.5)], np.ones((1, 2), np.float32))
            store.ready()
            assert [hit.id for hit in store.search(Query(1, "x", np.ones(2, np.float32)), 5)] == [1]
            store.close()
        finally:
            connection.execute("DROP DATABASE elsewhere")


@pytest.mark.marked
def test_a_server_that_dies_while_it_is_searched_blocks() -> None:
    server = EmbeddedServer()
    store = PgvectorStore(server)
    store.prepare(2)
    store.ingest([Item(1, 1, "x", None, 0.5)], np.ones((1, 2), np.float32))
    store.ready()
    folder = server.folder
    session = store._open().info.backend_pid
    server._parts["process"].kill()
    server._parts["process"].wait()
    while birth(session):  # it notices in its own time
        time.sleep(0.01)
    with pytest.raises(Blocked, match="lost while searching") as caught:
        store.search(Query(1, "x", np.ones(2, np.float32)), 5)
    assert "the embedded server: it was killed (SIGKILL); the last lines of its log:\n" in caught.value.found
    assert "database system is ready to accept connections" in caught.value.found
    with pytest.raises(Blocked, match="lost while taking in segments"):
        store.ingest([Item(2, 1, "x", None, 0.5)], np.ones((1, 2), np.float32))
    store.close()
    assert folder is not None
    assert not folder.exists()


def test_a_session_that_is_cut_off_blocks(tcp_dsn: str) -> None:
    store = PgvectorStore(tcp_dsn)
    store.prepare(2)
    with psycopg.connect(tcp_dsn, autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend(%s)", (store._open().info.backend_pid,))
    with pytest.raises(Blocked, match="lost while"):
        store.ingest([Item(1, 1, "x", None, 0.5)], np.ones((1, 2), np.float32))
    store.close()


def test_an_installed_extension_is_recognised(dsn: str) -> None:
    assert has_extension(dsn, "plpgsql") == "1.0"
    assert has_extension(dsn, "pgmnemo") == ""


def test_facts_of_a_real_server(dsn: str) -> None:
    with connect(dsn) as connection:
        facts = ready_server(connection)
        assert facts == server_facts(connection)
    assert facts.number >= 140000
    assert facts.vector is not None
    assert unmet_requirement(facts) is None
    assert unmet_requirement(replace(facts, vector=None)) is None
    assert unmet_requirement(replace(facts, vector=None, offered="")) is not None


def test_the_library_of_the_system_is_not_needed() -> None:
    # A child without the variables PG* and of the locale still finds the server that it started.
    code = "from recallbench.stores.postgres.embedded import EmbeddedServer as E\nwith E() as s: print(s.dsn)"
    environment = {"PGHOST": "nowhere.invalid", "PGPORT": "1", "LC_ALL": "POSIX", "PATH": "/usr/bin:/bin"}
    python_path = __import__("os").pathsep.join(__import__("sys").path)
    done = subprocess.run(
        [__import__("sys").executable, "-c", code],
        env=environment | {"PYTHONPATH": python_path},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "recallbench-pg-" in done.stdout


@pytest.mark.parametrize(
    ("message", "remedy"),
    [
        ('could not extend file "base/5/16384": No space left on device', "free room on the server's disk"),
        ('could not resize shared memory segment "/PostgreSQL.7" to 8 bytes: No space left on device', "/dev/shm"),
    ],
)
def test_a_full_disk_and_full_shared_memory_are_told_apart(message: str, remedy: str) -> None:
    with pytest.raises(Blocked, match="ran out of room while searching") as caught, database_errors("searching"):
        raise psycopg.errors.DiskFull(message)
    assert caught.value.found == message
    assert remedy in caught.value.remedy
