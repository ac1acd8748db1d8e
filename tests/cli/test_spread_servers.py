"""Scopes spread over several servers on the command line: the same bytes as one server, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from commandline import recallbench
from recallbench.stores.postgres.embedded import EmbeddedServer
from recallbench.stores.postgres.postgres import redacted

SECRET = "it's a p@ss/word"
RUN = ("run", "canary-locomo", "--embedder", "hash", "--store", "pgvector")
SAME = ("raw_retrievals.jsonl", "run.trec", "run.bm25.trec", "qrels.trec")
NOWHERE = f"host=127.0.0.1 port=1 dbname=x user=y password={SECRET.replace(' ', '').replace(chr(39), '')}"


@pytest.fixture(scope="module")
def servers() -> Iterator[tuple[str, str]]:
    with EmbeddedServer(password=SECRET) as first, EmbeddedServer(password=SECRET) as second:
        yield first.dsn, second.dsn


def over(*servers: str) -> list[str]:
    return [word for server in servers for word in ("--dsn", server)]


def schemas_left(dsn: str) -> int:
    with psycopg.connect(dsn) as connection:
        row = connection.execute("SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'recallbench_%'").fetchone()
    assert row is not None
    return int(row[0])


def test_several_servers_leave_the_bytes_of_one(servers: tuple[str, str], tmp_path: Path) -> None:
    one = recallbench(*RUN, *over(servers[0]), "--folder", "one", cwd=tmp_path)
    two = recallbench(*RUN, *over(*servers), "--folder", "two", cwd=tmp_path)
    assert (one.returncode, two.returncode) == (0, 0)
    assert SECRET not in one.stdout + one.stderr + two.stdout + two.stderr
    for name in SAME:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    first, second = (json.loads((tmp_path / name / "metrics.json").read_text()) for name in ("one", "two"))
    evidence = second["store"]["evidence"]
    assert {name: evidence.pop(name) for name in ("scopes", "connection on server 2")} == {
        "scopes": "dealt out in turn: 2 on server 1, 2 on server 2",
        "connection on server 2": redacted(servers[1]),
    }
    assert first == second
    recorded = json.loads((tmp_path / "two" / "environment.json").read_text())
    shown = [redacted(server) for server in servers]
    assert recorded["options"]["dsn"] == shown
    assert [word for word in recorded["command"] if "host=" in word] == shown
    assert [schemas_left(server) for server in servers] == [0, 0]
    audited = recallbench("audit", "two", cwd=tmp_path).stdout
    assert "  fail " not in audited
    file = tmp_path / "two" / "environment.json"
    file.write_text(file.read_text().replace(shown[1], "host=elsewhere"))
    altered = recallbench("audit", "two", cwd=tmp_path).stdout
    assert f"evidence connection on server 2 tells of {shown[1]}, the option --dsn of host=elsewhere" in altered


def test_a_server_of_another_version_is_refused_before_and_in_a_run(servers: tuple[str, str], tmp_path: Path) -> None:
    with psycopg.connect(servers[1], autocommit=True) as connection:
        connection.execute("CREATE DATABASE of_old")
    old = make_conninfo(servers[1], dbname="of_old")
    with psycopg.connect(old, autocommit=True) as connection:
        connection.execute("CREATE EXTENSION vector")
        connection.execute("UPDATE pg_extension SET extversion = '0.7.9' WHERE extname = 'vector'")
    for more in ((), ("--dry-run", "--strict")):
        done = recallbench(*RUN, *over(servers[0], old), *more, "--folder", "result", cwd=tmp_path)
        assert done.returncode == 3
        told = done.stdout + done.stderr
        assert "the servers are not alike, so haystacks would not be measured alike" in told
        assert "pgvector 0.7.9" in told
        assert redacted(old) in told
        assert SECRET not in told
        assert not (tmp_path / "result").exists()
    assert [schemas_left(server) for server in (servers[0], old)] == [0, 0]


def test_a_server_that_is_not_there_or_goes_is_named(servers: tuple[str, str], tmp_path: Path) -> None:
    away = recallbench(*RUN, *over(servers[0], NOWHERE), "--folder", "result", cwd=tmp_path)
    assert away.returncode == 3
    assert f"found: the server does not answer ({redacted(NOWHERE)}): " in away.stderr
    with psycopg.connect(servers[1], autocommit=True) as connection:
        connection.execute("CREATE DATABASE that_goes")
    goes = make_conninfo(servers[1], dbname="that_goes")
    with psycopg.connect(goes, autocommit=True) as connection:
        connection.execute(
            """CREATE EXTENSION vector;
               CREATE FUNCTION go() RETURNS event_trigger LANGUAGE plpgsql
                   AS $$ BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); END $$;
               CREATE EVENT TRIGGER going ON ddl_command_start WHEN TAG IN ('CREATE TABLE')
                   EXECUTE FUNCTION go()"""
        )
    gone = recallbench(*RUN, *over(servers[0], goes), "--folder", "result", cwd=tmp_path)
    assert gone.returncode == 3
    assert f"while preparing its tables (server 2 of 2: {redacted(goes)})" in gone.stderr
    assert SECRET not in away.stderr + gone.stderr
    assert not (tmp_path / "result").exists()
    assert schemas_left(servers[0]) == 0


@pytest.mark.parametrize(
    ("store", "servers", "told"),
    [
        ("pgvector", ("host=a password=x1y2z3", "host=a password=other1"), "a server is named twice"),
        ("pgmnemo", ("host=a", "host=b"), "the store `pgmnemo` can't be spread over 2 servers"),
    ],
)
def test_servers_that_make_no_sense_are_refused(
    store: str, servers: tuple[str, str], told: str, tmp_path: Path
) -> None:
    done = recallbench("run", "canary-locomo", "--store", store, *over(*servers), cwd=tmp_path)
    assert (done.returncode, told in done.stderr, "x1y2z3" in done.stderr) == (2, True, False)


def test_a_settings_file_lists_servers_and_a_variable_names_one(servers: tuple[str, str], tmp_path: Path) -> None:
    (tmp_path / "both.toml").write_text(f"dsn = {json.dumps(list(servers))}\n")
    said = recallbench("doctor", "canary-locomo", "--store", "pgvector", "--config", "both.toml", cwd=tmp_path).stdout
    assert "2 servers, each haystack on one of them: PostgreSQL " in said
    alone = recallbench(
        "doctor", "canary-locomo", "--store", "pgvector", cwd=tmp_path, env={"RECALLBENCH_DSN": servers[0]}
    ).stdout
    assert f"no pgmnemo ({redacted(servers[0])})" in alone
    assert SECRET not in said + alone
