"""One run's place in a database that other runs may use too."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from recallbench.stores.postgres.postgres import database_errors

if TYPE_CHECKING:
    from psycopg import Connection

PREFIX = "recallbench_"
MARKER = "a run of recallbench; dropped when it ends"
LOCK_CLASS = 0x52424E43
"""Class of the advisory locks by which a living run holds its schema."""


def claim_schema(connection: Connection) -> str:
    """Make a schema that this session alone owns, and drop those whose session is gone."""
    with database_errors("making a schema of its own"):
        sweep(connection)
        name = PREFIX + secrets.token_hex(4)
        # Locked before it exists: a sweep by another run never finds it without a living owner.
        connection.execute("SELECT pg_advisory_lock(%s, %s)", (LOCK_CLASS, _key(name)))
        with connection.transaction():
            connection.execute(f"CREATE SCHEMA {name}".encode())
            connection.execute(f"COMMENT ON SCHEMA {name} IS '{MARKER}'".encode())
    return name


def drop_schema(connection: Connection, name: str) -> None:
    """Remove a run's schema with everything in it, and let go of its lock."""
    with database_errors("dropping its schema"):
        connection.execute(f"SET client_min_messages = error; DROP SCHEMA IF EXISTS {name} CASCADE".encode())
        connection.execute("SELECT pg_advisory_unlock(%s, %s)", (LOCK_CLASS, _key(name)))


def schema_bytes(connection: Connection, name: str) -> dict[str, int]:
    """Return the size on disk of a schema's tables, with what is kept out of line, and of their indexes."""
    with database_errors("measuring its tables"):
        row = connection.execute(
            """SELECT coalesce(sum(pg_table_size(oid)), 0)::bigint, coalesce(sum(pg_indexes_size(oid)), 0)::bigint
               FROM pg_class WHERE relnamespace = %s::regnamespace AND relkind = 'r'""",
            (name,),
        ).fetchone()
    assert row is not None
    return {"tables": row[0], "indexes": row[1]}


def sweep(connection: Connection) -> list[str]:
    """Drop the schemas of runs that died, and return their names; those of living runs and other roles stay."""
    rows = connection.execute(
        """SELECT nspname FROM pg_namespace
           WHERE nspname ~ '^recallbench_[0-9a-f]{8}$' AND obj_description(oid, 'pg_namespace') = %s
             AND pg_has_role(nspowner, 'USAGE')""",
        (MARKER,),
    ).fetchall()
    dropped = []
    for (name,) in rows:
        lock = connection.execute("SELECT pg_try_advisory_lock(%s, %s)", (LOCK_CLASS, _key(name))).fetchone()
        if lock and lock[0]:
            drop_schema(connection, name)
            dropped.append(name)
    return dropped


def _key(name: str) -> int:
    return int.from_bytes(bytes.fromhex(name.removeprefix(PREFIX)), "big", signed=True)
