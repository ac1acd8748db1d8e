"""Databases for the time of one measurement, each with one version of an extension, on a server that others use too."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from recallbench.errors import Blocked
from recallbench.stores.postgres.postgres import check_age, connect, database_errors, redacted

if TYPE_CHECKING:
    from psycopg import Connection

PREFIX = "recallbench_version_"
MARK = 5_242_480
"""The connection limit that marks a database as ours. It is set by the statement that creates the database, so that one
whose owner died at that moment is told from other people's."""
HALF_DROPPED = -2
"""The connection limit that Postgres leaves when a DROP is interrupted: only another DROP works then."""
LOCK_CLASS = 0x52424E56
"""Class of the advisory locks by which a living run holds its database."""
SLOTS = 1_000


class NotInstalled(Blocked):
    """This version can't be had on this server; others may."""


@contextmanager
def database_with(dsn: str, extension: str, version: str) -> Iterator[str]:
    """The DSN of a fresh database that has this version of the extension; dropped when the block ends, however it does.

    Raises NotInstalled where the version can't be had, and Blocked where no database can.
    """
    from psycopg.conninfo import make_conninfo

    with connect(dsn) as keeper:
        check_age(keeper)
        with database_errors("setting the session up"):
            # It waits through a whole measurement, and its locks go when it does.
            keeper.execute("SET idle_session_timeout = 0; SET client_min_messages = warning")
        sweep(keeper)
        _check_offer(keeper, extension, version)
        slot = _claim(keeper, redacted(dsn))
        own = make_conninfo(dsn, dbname=_name(slot))
        try:
            _create(keeper, slot, redacted(dsn))
            _install(own, extension, version)
            yield own
        finally:
            _clear(dsn, keeper, slot)


def sweep(keeper: Connection) -> list[str]:
    """Drop the databases of runs that died, and return their names; those of living runs and other roles stay."""
    with database_errors("looking for databases of runs that died"):
        rows = keeper.execute(
            """SELECT datname FROM pg_database WHERE starts_with(datname, %s) AND datconnlimit = ANY(%s)
                 AND pg_has_role(datdba, 'USAGE') ORDER BY 1""",
            (PREFIX, [MARK, HALF_DROPPED]),
        ).fetchall()
    dropped = []
    for (name,) in rows:
        number = name.removeprefix(PREFIX)
        if re.fullmatch(r"0|[1-9][0-9]{0,2}", number) and _try_to_lock(keeper, int(number)):
            if _drop(keeper, int(number)):
                dropped.append(name)
            _release(keeper, int(number))
    return dropped


def offered(keeper: Connection, extension: str) -> list[str]:
    """The versions of an extension that the server has files for."""
    with database_errors("asking which versions there are"):
        rows = keeper.execute(
            "SELECT version FROM pg_available_extension_versions WHERE name = %s", (extension,)
        ).fetchall()
    return sorted((version for (version,) in rows), key=_by_number)


def _by_number(version: str) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"[.-]", version)]


def _check_offer(keeper: Connection, extension: str, version: str) -> None:
    versions = offered(keeper, extension)
    if version not in versions:
        raise NotInstalled(
            f"the server does not offer {extension} {version}",
            expected=", ".join(versions) or f"files of {extension} on the server",
            found="no such version" if versions else f"no version of {extension} at all",
            remedy=f"install the files of {extension} {version} on the server, or name a version that it offers",
        )


def _name(slot: int) -> str:
    return f"{PREFIX}{slot}"


def _claim(keeper: Connection, server: str) -> int:
    """The lowest number that nobody holds: a repeat works in a database of the same name."""
    for slot in range(SLOTS):
        if not _try_to_lock(keeper, slot):
            continue
        with database_errors("looking for a free database name"):
            exists = keeper.execute("SELECT 1 FROM pg_database WHERE datname = %s", (_name(slot),)).fetchone()
        if not exists:
            return slot
        _release(keeper, slot)
    raise Blocked(
        "no name for a database of its own is free",
        expected=f"one of {_name(0)} to {_name(SLOTS - 1)}",
        found=f"all in use ({server})",
        remedy="drop those that no run uses",
    )


def _try_to_lock(keeper: Connection, slot: int) -> bool:
    """Claim the number for this session in the whole cluster; return whether that worked."""
    with database_errors("claiming a database"):
        row = keeper.execute("SELECT pg_try_advisory_lock(%s, %s)", (LOCK_CLASS, slot)).fetchone()
        if not row or not row[0]:
            return False
        # A lock binds only those who are connected to the same database; all of them can be seen from each.
        row = keeper.execute(
            """SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 2
                 AND classid::bigint = %s AND objid::bigint = %s AND pid <> pg_backend_pid()""",
            (LOCK_CLASS, slot),
        ).fetchone()
    if row and row[0]:
        _release(keeper, slot)
        return False
    return True


def _release(keeper: Connection, slot: int) -> None:
    if not keeper.broken and not keeper.closed:
        with database_errors("letting go of a database"):
            keeper.execute("SELECT pg_advisory_unlock(%s, %s)", (LOCK_CLASS, slot))


def _create(keeper: Connection, slot: int, server: str) -> None:
    from psycopg import errors

    try:
        with database_errors("creating a database of its own"):
            keeper.execute(
                f"CREATE DATABASE {_name(slot)} TEMPLATE template0 ENCODING 'UTF8' CONNECTION LIMIT {MARK}".encode()
            )
            keeper.execute(
                f"COMMENT ON DATABASE {_name(slot)} IS 'a run of recallbench; dropped when it ends'".encode()
            )
    except Blocked as blocked:
        if isinstance(blocked.__cause__, errors.InsufficientPrivilege):
            raise Blocked(
                "the role may not create databases, and each version is measured in one of its own",
                expected="a role with CREATEDB",
                found=f"{blocked.found} ({server})",
                remedy="ALTER ROLE … CREATEDB; as a superuser, or name a role that may in --dsn",
            ) from blocked
        raise


def _install(own: str, extension: str, version: str) -> None:
    import psycopg
    from psycopg import sql

    command = sql.SQL("CREATE EXTENSION {} VERSION {} CASCADE").format(sql.Identifier(extension), sql.Literal(version))
    with connect(own) as connection:
        try:
            connection.execute("SET client_min_messages = warning")
            connection.execute(command)
        except psycopg.Error as error:
            if connection.broken or connection.closed:
                with database_errors(f"installing {extension} {version}"):
                    raise
            message = str(error).strip().split("\n")[0]
            raise NotInstalled(
                f"{extension} {version} could not be installed",
                found=message,
                remedy="name a superuser in --dsn, or a role that may install it"
                if isinstance(error, psycopg.errors.InsufficientPrivilege)
                else f"mend the files of {extension} {version} on the server, or leave this version out",
            ) from error


def _clear(dsn: str, keeper: Connection, slot: int) -> None:
    """Remove the database and let go of its number, also when a Ctrl-C comes just now."""
    try:
        _read_to_the_end(keeper)
        # By force: a session that was interrupted may not have ended yet.
        _drop(keeper, slot, force=True)
        _release(keeper, slot)
    except KeyboardInterrupt:
        with connect(dsn) as other:
            _drop(other, slot, force=True)
        raise


def _read_to_the_end(keeper: Connection) -> None:
    """Make the session ready for a command again after one whose answer a Ctrl-C left unread.

    psycopg cancels and reads on by itself, but not where the Ctrl-C came while it was reading.
    """
    from psycopg.pq import TransactionStatus

    while keeper.pgconn.transaction_status == TransactionStatus.ACTIVE:
        keeper.pgconn.get_result()


def _drop(keeper: Connection, slot: int, *, force: bool = False) -> bool:
    """Whether no database of ours has that number any more; without force one that is in use stays."""
    from psycopg import errors

    if keeper.broken or keeper.closed:
        return False
    try:
        with database_errors("dropping its database"):
            ours = keeper.execute(
                "SELECT 1 FROM pg_database WHERE datname = %s AND datconnlimit = ANY(%s)",
                (_name(slot), [MARK, HALF_DROPPED]),
            ).fetchone()
            if not ours:
                return True
            keeper.execute(f"DROP DATABASE IF EXISTS {_name(slot)}{' WITH (FORCE)' if force else ''}".encode())
    except Blocked as blocked:
        if force or not isinstance(blocked.__cause__, errors.ObjectInUse):
            raise
        return False
    return True
