"""The history tables as they came about: SQL files, each applied once, in order, and never changed."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING

from recallbench import __version__
from recallbench.errors import InputError

if TYPE_CHECKING:
    from psycopg import Connection

SCHEMA = "recallbench_history"
LOCK = ("recallbench", "history")
"""The names of the advisory lock under which tables are made and filled."""
_NAME = re.compile(r"(\d{4})_(\w+)\.sql")


@dataclass(frozen=True, slots=True)
class Migration:
    """A step from one form of the tables to the next."""

    number: int
    name: str
    sql: str

    @property
    def sha256(self) -> str:
        """The hash of its statements."""
        return hashlib.sha256(self.sql.encode()).hexdigest()


def read_migrations() -> list[Migration]:
    """Return the migrations of this release, in order."""
    files = resources.files("recallbench.exports.history").joinpath("sql").iterdir()
    named = [(match, file) for file in files if (match := _NAME.fullmatch(file.name))]
    found = [Migration(int(match[1]), match[2], file.read_text(encoding="utf-8")) for match, file in named]
    return sorted(found, key=lambda migration: migration.number)


def migrate(connection: Connection, migrations: Sequence[Migration]) -> list[Migration]:
    """Bring the tables to the form of these migrations, and return those that were applied.

    To be called in a transaction, which holds the lock to its end. Raises InputError where the tables are of a newer
    release, or came about otherwise.
    """
    connection.execute("SELECT pg_advisory_xact_lock(hashtext(%s), hashtext(%s))", LOCK)
    _make_record(connection)
    rows = connection.execute(
        f"SELECT number, name, sha256 FROM {SCHEMA}.migrations ORDER BY number".encode()
    ).fetchall()
    known = {migration.number: migration for migration in migrations}
    if newer := [(number, name) for number, name, _ in rows if number not in known]:
        raise InputError(
            f"the history tables in schema {SCHEMA} are of a newer release",
            expected=f"migrations up to {max(known):04d}, as of recallbench {__version__}",
            found=", ".join(f"{number:04d}_{name}" for number, name in newer),
            remedy="update recallbench, or name another database; nothing was changed",
        )
    if changed := [(number, name) for number, name, sha256 in rows if known[number].sha256 != sha256]:
        raise InputError(
            f"the history tables in schema {SCHEMA} came about otherwise than this release makes them",
            expected="migrations with the sha256 of this release",
            found=", ".join(f"another {number:04d}_{name}" for number, name in changed),
            remedy="name another database, or move the schema out of the way; nothing was changed",
        )
    applied = {number for number, _, _ in rows}
    fresh = [migration for migration in migrations if migration.number not in applied]
    for migration in fresh:
        connection.execute(migration.sql.encode())
        connection.execute(
            f"INSERT INTO {SCHEMA}.migrations (number, name, sha256, recallbench) VALUES (%s, %s, %s, %s)".encode(),
            (migration.number, migration.name, migration.sha256, __version__),
        )
    return fresh


def _make_record(connection: Connection) -> None:
    """Make the schema and its record of migrations, where there is none."""
    # Asked for first: IF NOT EXISTS wants the right to make it even where it is there.
    row = connection.execute(
        "SELECT to_regnamespace(%s) IS NOT NULL, to_regclass(%s) IS NOT NULL", (SCHEMA, f"{SCHEMA}.migrations")
    ).fetchone()
    assert row is not None
    if not row[0]:
        connection.execute(f"CREATE SCHEMA {SCHEMA}".encode())
    if not row[1]:
        connection.execute(
            f"""CREATE TABLE {SCHEMA}.migrations (
                    number integer PRIMARY KEY, name text NOT NULL, sha256 text NOT NULL,
                    recallbench text NOT NULL, applied timestamptz NOT NULL DEFAULT now())""".encode()
        )
