from __future__ import annotations

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from recallbench.stores.postgres.tenancy import MARKER, claim_schema, drop_schema, sweep
from stores.postgres.living_runs import wait_for_runs

RUN = """
import sys
import numpy as np
from recallbench.stores.pgvector.pgvector import PgvectorStore
from recallbench.stores.store import Item, Query

store = PgvectorStore(sys.argv[1])
store.prepare(2)
store.ingest([Item(1, 1, "red fox", None, 0.5)], np.ones((1, 2), np.float32))
store.ready()
print(store.schema, flush=True)
sys.stdin.readline()
print([hit.id for hit in store.search(Query(1, "fox", np.ones(2, np.float32)), 5)], flush=True)
store.close()
"""


def schemas(dsn: str) -> set[str]:
    with psycopg.connect(dsn) as connection:
        rows = connection.execute("SELECT nspname FROM pg_namespace WHERE nspname LIKE 'recallbench%'").fetchall()
    return {name for (name,) in rows}


@pytest.fixture
def session(dsn: str):
    with psycopg.connect(dsn, autocommit=True) as connection:
        yield connection


def test_a_schema_is_claimed_and_dropped(session, dsn: str) -> None:
    name = claim_schema(session)
    assert name in schemas(dsn)
    drop_schema(session, name)
    assert name not in schemas(dsn)
    locks = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()"
    assert session.execute(locks).fetchone() == (0,)


def test_two_runs_at_once_leave_each_other_alone(dsn: str, session, run_python) -> None:
    first, second = run_python(RUN, dsn), run_python(RUN, dsn)
    names = {first.stdout.readline().strip(), second.stdout.readline().strip()}
    assert len(names) == 2
    mine = claim_schema(session)
    assert names | {mine} <= schemas(dsn)
    assert first.communicate("go\n")[0].strip() == "[1]"
    assert second.communicate("go\n")[0].strip() == "[1]"
    assert schemas(dsn) & (names | {mine}) == {mine}
    drop_schema(session, mine)


def test_what_a_killed_run_left_is_dropped_by_the_next(dsn: str, session, run_python) -> None:
    dead, living = run_python(RUN, dsn), run_python(RUN, dsn)
    left, other = dead.stdout.readline().strip(), living.stdout.readline().strip()
    dead.kill()
    dead.wait()
    wait_for_runs(session, 1)
    assert left in schemas(dsn)
    mine = claim_schema(session)
    assert schemas(dsn) & {left, other, mine} == {other, mine}
    assert living.communicate("go\n")[0].strip() == "[1]"
    drop_schema(session, mine)


def test_a_schema_that_only_looks_like_a_runs_stays(dsn: str, session) -> None:
    session.execute("CREATE SCHEMA recallbench_0badcafe; CREATE SCHEMA recallbench_notes")
    session.execute(f"COMMENT ON SCHEMA recallbench_notes IS '{MARKER}'")
    try:
        assert sweep(session) == []
        assert {"recallbench_0badcafe", "recallbench_notes"} <= schemas(dsn)
    finally:
        session.execute("DROP SCHEMA recallbench_0badcafe; DROP SCHEMA recallbench_notes")


def test_a_schema_of_another_role_stays(dsn: str, session) -> None:
    session.execute("CREATE ROLE stranger LOGIN PASSWORD 'of-the-role'")
    session.execute("CREATE SCHEMA recallbench_00000001")
    session.execute(f"COMMENT ON SCHEMA recallbench_00000001 IS '{MARKER}'")
    try:
        with psycopg.connect(make_conninfo(dsn, user="stranger", password="of-the-role"), autocommit=True) as other:
            assert sweep(other) == []
        assert sweep(session) == ["recallbench_00000001"]
    finally:
        session.execute("DROP SCHEMA IF EXISTS recallbench_00000001; DROP ROLE stranger")
