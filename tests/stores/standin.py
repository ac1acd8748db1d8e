"""A small extension of our own that is called pgmnemo: the least that the store of that name can be tested with.

Each variant is a version of the extension, so that one server offers all of them.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from recallbench.errors import Blocked
from recallbench.stores.postgres.binaries import Install, find_install
from recallbench.stores.postgres.embedded import EmbeddedServer

CONTROL = """comment = 'stand-in of RecallBench for its tests'
default_version = '1.0'
schema = pgmnemo
requires = vector
trusted = true
"""

BASE = """
CREATE FUNCTION pgmnemo.version() RETURNS text LANGUAGE sql STABLE AS
$$SELECT extversion::text FROM pg_extension WHERE extname = 'pgmnemo'$$;

CREATE TABLE pgmnemo.agent_lesson (
    id bigserial PRIMARY KEY,
    role text NOT NULL,
    project_id int,
    topic text NOT NULL,
    lesson_text text NOT NULL,
    importance smallint NOT NULL DEFAULT 3 CHECK (importance BETWEEN 1 AND 5),
    metadata jsonb,
    source_run_id text,
    commit_sha text,
    verified_at timestamptz,
    is_active boolean NOT NULL DEFAULT true,
    embedding vector(1024),
    created_at timestamptz NOT NULL DEFAULT now(),
    spoken tsvector GENERATED ALWAYS AS (to_tsvector('simple', lesson_text)) STORED
);

CREATE FUNCTION pgmnemo.gate() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.commit_sha IS NULL AND current_setting('pgmnemo.gate_strict', true) IS DISTINCT FROM 'off' THEN
        RAISE EXCEPTION 'stand-in: a lesson without provenance';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER gate BEFORE INSERT ON pgmnemo.agent_lesson FOR EACH ROW EXECUTE FUNCTION pgmnemo.gate();
"""

OLD_PARAMETERS = """query_embedding vector, k int DEFAULT 10, role_filter text DEFAULT NULL,
    project_id_filter int DEFAULT NULL, query_text text DEFAULT NULL"""
RETURNED = "RETURNS TABLE (lesson_id bigint, score float8, topic text)"
RECENCY = """coalesce(nullif(current_setting('pgmnemo.recency_weight', true), ''), '0.08')::float8
        * greatest(0, 1 - extract(epoch FROM now() - l.created_at)::float8 / 86400 / 90)"""
RECALLABLE = """l.is_active AND l.verified_at IS NOT NULL AND l.embedding IS NOT NULL
        AND (role_filter IS NULL OR l.role = role_filter)
        AND (project_id_filter IS NULL OR l.project_id = project_id_filter)"""


def recall(
    name: str = "recall_lessons",
    parameters: str = OLD_PARAMETERS,
    score: str = f"1 - (l.embedding <=> query_embedding) + {RECENCY}",
    limit: str = "k",
    where: str = RECALLABLE,
    before: str = "",
) -> str:
    """A retrieval function."""
    return f"""
CREATE FUNCTION pgmnemo.{name}({parameters}) {RETURNED} LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
    {before}
    RETURN QUERY SELECT l.id, {score}, l.topic FROM pgmnemo.agent_lesson l
        WHERE {where} ORDER BY 2 DESC, 1 LIMIT {limit};
END $$;
"""


NEWER = (
    "ALTER TABLE pgmnemo.agent_lesson ADD t_valid_to timestamptz NOT NULL DEFAULT 'infinity',"
    " ADD recall_count int NOT NULL DEFAULT 0;"
    + recall(
        parameters=f"{OLD_PARAMETERS}, as_of_ts timestamptz DEFAULT NULL, p_content_types text[] DEFAULT NULL,"
        " p_min_score real DEFAULT NULL",
        score=f"1 - (l.embedding <=> query_embedding) + {RECENCY}"
        " + ts_rank(l.spoken, websearch_to_tsquery('simple', coalesce(query_text, '')))",
        where=f"{RECALLABLE} AND l.t_valid_to = 'infinity'",
        before="""IF coalesce(current_setting('pgmnemo.track_recall_recency', true), '') <> 'off' THEN
        UPDATE pgmnemo.agent_lesson l SET recall_count = l.recall_count + 1 WHERE l.project_id = project_id_filter;
    END IF;
    PERFORM current_setting('pgmnemo.ef_search', true);""",
    )
    + recall(
        "recall_hybrid",
        """query_embedding vector, query_text text, k int DEFAULT 10, role_filter text DEFAULT NULL,
    project_id_filter int DEFAULT NULL, vec_weight float8 DEFAULT 0.4, rrf_k int DEFAULT 60""",
        score="vec_weight * (1 - (l.embedding <=> query_embedding))",
    )
    + recall(
        "recall_fast",
        "query_embedding vector, k int DEFAULT 10, role_filter text DEFAULT NULL, project_id_filter int DEFAULT NULL",
        score="1 - (l.embedding <=> query_embedding)",
    )
)
CLOSES = """
CREATE FUNCTION pgmnemo.close() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE pgmnemo.agent_lesson l SET t_valid_to = now()
        WHERE l.{column} = NEW.{column} AND l.id <> NEW.id AND l.t_valid_to = 'infinity';
    RETURN NULL;
END $$;
CREATE TRIGGER close AFTER INSERT ON pgmnemo.agent_lesson FOR EACH ROW EXECUTE FUNCTION pgmnemo.close();
"""
SECURED = "ALTER TABLE pgmnemo.agent_lesson ENABLE ROW LEVEL SECURITY;"
TENANT = "coalesce(current_setting('pgmnemo.tenant_id', true), '')"

VARIANTS = {
    "1.0": recall(),
    "2.0": NEWER,
    "1.0-uuid": recall(
        parameters=OLD_PARAMETERS.replace("project_id_filter int", "project_id_filter uuid"), where="true"
    ),
    "1.0-demanding": recall(parameters="tenant text, " + OLD_PARAMETERS),
    "1.0-scoreless": recall().replace("score float8", "points float8"),
    "1.0-projectless": recall(
        parameters="query_embedding vector, k int DEFAULT 10, role_filter text DEFAULT NULL", where="true"
    ),
    "1.0-overloaded": recall() + recall(parameters="tenant text, " + OLD_PARAMETERS),
    "1.0-empty": "",
    "1.0-fuller": recall() + "ALTER TABLE pgmnemo.agent_lesson ADD blame text NOT NULL;",
    "1.0-poorer": recall() + "ALTER TABLE pgmnemo.agent_lesson DROP topic CASCADE;",
    "2.0-topical": NEWER + CLOSES.format(column="topic"),
    "2.0-forgetful": NEWER + CLOSES.format(column="role"),
    "1.0-dropping": recall()
    + """CREATE FUNCTION pgmnemo.drop() RETURNS trigger LANGUAGE plpgsql AS
$$BEGIN IF NEW.id % 2 = 0 THEN RETURN NULL; END IF; RETURN NEW; END $$;
CREATE TRIGGER sieve BEFORE INSERT ON pgmnemo.agent_lesson FOR EACH ROW EXECUTE FUNCTION pgmnemo.drop();""",
    "1.0-short": recall(limit="least(k, 7)"),
    "1.0-fickle": recall(score="CASE WHEN k > 10 THEN -l.id ELSE l.id END::float8"),
    "1.0-noisy": recall(before="RAISE NOTICE 'pgmnemo: looked at % rows', 100 + k;"),
    "1.0-degrading": recall(before="RAISE NOTICE 'pgmnemo: words took 12 ms, degrading to vectors';"),
    "1.0-slow": recall(before="PERFORM pg_sleep(0.2);"),
    "1.0-restless": recall(score="1 - (l.embedding <=> query_embedding) + extract(epoch FROM clock_timestamp())"),
    "1.0-nan": recall(score="'NaN'::float8"),
    "1.0-tenants": recall()
    + SECURED
    + f"CREATE POLICY own ON pgmnemo.agent_lesson USING ({TENANT} IN ('', project_id::text));",
    "1.0-hiding": recall()
    + SECURED
    + "CREATE POLICY come ON pgmnemo.agent_lesson FOR INSERT WITH CHECK (true);"
    + "CREATE POLICY seen ON pgmnemo.agent_lesson FOR SELECT USING (id % 2 = 0);",
    "1.0-closed": recall() + SECURED + "CREATE POLICY seen ON pgmnemo.agent_lesson FOR SELECT USING (true);",
}
"""SQL of each variant beside BASE, by the version that it is installed as."""


@contextmanager
def standin_server(password: str | None = None) -> Iterator[EmbeddedServer]:
    """A server that offers every variant."""
    with tempfile.TemporaryDirectory(prefix="recallbench-standin-") as folder:
        Path(folder).chmod(0o755)  # the server may run as another user
        with EmbeddedServer(install=with_standin(Path(folder)), password=password) as server:
            yield server


def with_standin(folder: Path) -> Install:
    """A copy of this machine's Postgres that has the variants on offer."""
    try:
        install = find_install().copied_to(folder / "install")
    except Blocked as blocked:
        pytest.skip(f"no Postgres to put the stand-in into: {blocked.problem}")
    extensions = install.share / "extension"
    # Those of a real pgmnemo on this machine are not to be mixed with ours.
    for there in (*extensions.glob("pgmnemo--*"), *extensions.glob("pgmnemo.control")):
        there.unlink()
    (extensions / "pgmnemo.control").write_text(CONTROL)
    for version, sql in VARIANTS.items():
        (extensions / f"pgmnemo--{version}.sql").write_text(BASE + sql)
    for written in extensions.glob("pgmnemo*"):
        written.chmod(0o644)
    return install


NAMES = (f"{os.getpid()}_{number}" for number in count())
"""Servers may be shared with other tests at the same time."""


@contextmanager
def database(server: str, version: str | None, schema: str = "public") -> Iterator[str]:
    """The DSN of a database of its own with this version of pgmnemo, None: with pgvector alone. It goes afterwards."""
    name = f"recallbench_test_{next(NAMES)}"
    with psycopg.connect(server, autocommit=True) as maker:
        maker.execute(f"CREATE DATABASE {name} TEMPLATE template0 ENCODING 'UTF8'".encode())
        try:
            dsn = make_conninfo(server, dbname=name)
            with psycopg.connect(dsn, autocommit=True) as connection:
                connection.execute(f"CREATE SCHEMA IF NOT EXISTS {schema}".encode())
                connection.execute(f"CREATE EXTENSION vector SCHEMA {schema}".encode())
                if version:
                    connection.execute(f"CREATE EXTENSION pgmnemo VERSION '{version}'".encode())
            yield dsn
        finally:
            maker.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())


@contextmanager
def plain_role(dsn: str, *rights: str) -> Iterator[str]:
    """The DSN of a role without privileges but those given, such as `USAGE ON SCHEMA pgmnemo`."""
    name = f"recallbench_plain_{next(NAMES)}"
    with psycopg.connect(dsn, autocommit=True) as owner:
        owner.execute(f"CREATE ROLE {name} LOGIN PASSWORD 'of-the-role'".encode())
        try:
            for right in rights:
                owner.execute(f"GRANT {right} TO {name}".encode())
            yield make_conninfo(dsn, user=name, password="of-the-role")
        finally:
            owner.execute(f"DROP OWNED BY {name}; DROP ROLE {name}".encode())


EVERY_RIGHT = (
    "USAGE ON SCHEMA pgmnemo",
    "SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA pgmnemo",
    "USAGE ON ALL SEQUENCES IN SCHEMA pgmnemo",
)
