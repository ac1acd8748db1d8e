"""The guide to a role with few rights: its statements make one, a run works with exactly those, and says what lacks."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from commandline import environment, installed, recallbench
from documents.markdown import ROOT, blocks
from recallbench.stores.postgres.embedded import EmbeddedServer

GUIDE = (ROOT / "docs" / "least-privilege.md").read_text("utf-8")
ROLE, DATABASE = "recallbench_runner", "recallbench_runs"
RUN = ("run", "canary-locomo", "--store", "pgvector", "--embedder", "hash", "--limit", "12", "--quiet")
INDEXED = (*RUN, "--weights", "cosine", "--set", "index=hnsw")


@pytest.fixture(scope="module")
def owner() -> Iterator[str]:
    """The address of the guide's database for whoever made it, after every statement of the guide."""
    with EmbeddedServer() as server:
        there = make_conninfo(server.dsn, dbname=DATABASE)
        for dsn, block in zip((server.dsn, there), statements(), strict=True):
            for statement in block:
                execute(dsn, statement)
        execute(
            there, "CREATE TABLE extensions.memories (text text); CREATE SCHEMA app; CREATE TABLE app.users (id int)"
        )
        yield there


@pytest.fixture
def dsn(owner: str) -> str:
    """The address for the role."""
    return make_conninfo(owner, user=ROLE, password="choose-one")


def statements() -> list[list[str]]:
    """The statements of each block of SQL in the guide."""
    bodies = [block.body for block in blocks(GUIDE) if block.language == "sql"]
    return [[part.strip() for part in body.split(";") if part.strip()] for body in bodies]


def execute(dsn: str, statement: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(statement.encode())


def schemas(dsn: str) -> list[str]:
    with psycopg.connect(dsn) as connection:
        rows = connection.execute("SELECT nspname FROM pg_namespace WHERE nspname LIKE 'recallbench%' ORDER BY 1")
        return [name for (name,) in rows]


def test_a_run_with_the_role_gives_what_the_owner_of_the_server_gets(dsn: str, tmp_path: Path) -> None:
    for name, words in (("few", (*RUN, "--dsn", dsn)), ("all", RUN)):
        assert recallbench(*words, "--folder", name, cwd=tmp_path).returncode == 0
    few, everything = ((tmp_path / name / "raw_retrievals.jsonl").read_bytes() for name in ("few", "all"))
    assert few == everything
    written = [path for path in (tmp_path / "few").rglob("*") if path.is_file()]
    assert [path.name for path in written if b"choose-one" in path.read_bytes()] == []


def test_the_command_of_the_guide_runs(dsn: str, tmp_path: Path) -> None:
    (block,) = [block.body for block in blocks(GUIDE) if block.language == "sh"]
    variables = {"RUNNER_DSN": dsn, "PATH": installed(tmp_path / "bin"), "RECALLBENCH_QUIET": "1"}
    env = environment(tmp_path, variables)
    command = ["bash", "-euo", "pipefail", "-c", block]
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_an_index_is_built_with_the_role_and_nothing_is_left(dsn: str, owner: str, tmp_path: Path) -> None:
    assert recallbench(*INDEXED, "--dsn", dsn, "--folder", "indexed", cwd=tmp_path).returncode == 0
    assert schemas(owner) == []


def test_the_role_is_no_superuser_and_owns_no_database(owner: str) -> None:
    with psycopg.connect(owner) as connection:
        attributes = connection.execute(
            """SELECT rolsuper, rolcreatedb, rolcreaterole, rolreplication, rolbypassrls FROM pg_roles
               WHERE rolname = %s""",
            (ROLE,),
        ).fetchone()
        owned = connection.execute(
            "SELECT count(*) FROM pg_database WHERE pg_has_role(%s, datdba, 'USAGE')", (ROLE,)
        ).fetchone()
        memberships = connection.execute(
            "SELECT count(*) FROM pg_auth_members WHERE member = %s::regrole", (ROLE,)
        ).fetchone()
    assert attributes == (False, False, False, False, False)
    assert owned == memberships == (0,)


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT * FROM app.users",
        "SELECT * FROM extensions.memories",
        "CREATE TABLE extensions.mine (id int)",
        "CREATE TABLE public.mine (id int)",
        "CREATE TEMP TABLE mine (id int)",
        "CREATE DATABASE mine",
        "CREATE ROLE mine",
        "SELECT rolpassword FROM pg_authid",
        "COPY (SELECT 1) TO PROGRAM 'true'",
        "SELECT pg_read_file('postgresql.conf')",
        "ALTER SYSTEM SET work_mem = '1MB'",
    ],
)
def test_the_role_may_do_nothing_else(dsn: str, statement: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
        connection.execute(statement.encode())


RIGHTS = {
    f"CONNECT ON DATABASE {DATABASE}": ("the server refuses the connection", "CONNECT privilege"),
    f"CREATE ON DATABASE {DATABASE}": (
        "the role lacks a right for making a schema of its own",
        "GRANT CREATE ON DATABASE",
    ),
    "USAGE ON SCHEMA extensions": (
        "the role may not use pgvector",
        f"GRANT USAGE ON SCHEMA extensions TO {ROLE}; as its owner",
    ),
}
"""Each right that the guide grants, and how a run without it ends."""


@pytest.mark.parametrize("right", RIGHTS)
def test_a_right_that_lacks_is_named(right: str, owner: str, dsn: str, tmp_path: Path) -> None:
    told, help_ = RIGHTS[right]
    assert f"`{told}`" in GUIDE
    execute(owner, f"REVOKE {right} FROM {ROLE}")
    try:
        done = recallbench(*RUN, "--dsn", dsn, "--folder", "lacking", cwd=tmp_path)
    finally:
        execute(owner, f"GRANT {right} TO {ROLE}")
    assert done.returncode == 3
    assert told in done.stderr
    assert help_ in done.stderr
    assert schemas(owner) == []


def test_the_rights_of_the_test_are_those_of_the_guide() -> None:
    granted = set()
    for statement in (statement for block in statements() for statement in block):
        if read := re.fullmatch(r"GRANT (.+) (ON .+) TO recallbench_runner", statement):
            granted |= {f"{right.strip()} {read[2]}" for right in read[1].split(",")}
    assert granted == set(RIGHTS)
