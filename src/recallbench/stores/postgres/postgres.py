"""A connection to a Postgres. Errors say why it can't serve, and never show its password."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from recallbench.addresses import STORE
from recallbench.confidential import MARK, remember_secrets, sanitised
from recallbench.errors import Blocked, InputError, RecallBenchError, TooManyConnections, UsageError
from recallbench.extras import require
from recallbench.stores.postgres.passfile import passwords
from recallbench.stores.postgres.shared_memory import NO_ROOM, ROOM
from recallbench.stores.postgres.silence import silence, watch

if TYPE_CHECKING:
    from psycopg import Connection

OLDEST_POSTGRES = 14
OLDEST_PGVECTOR = (0, 5, 0)
NEEDS = "PostgreSQL 14 or later with pgvector 0.5.0 or later"
EMBEDDED_REMEDY = "leave out --dsn and PGMNEMO_DSN to use the embedded server"
SECRETS = ("password", "sslpassword", "oauth_client_secret", "scram_client_key", "scram_server_key")
SHOWN = frozenset(
    {"host", "hostaddr", "port", "dbname", "user", "service", "application_name", "client_encoding", "connect_timeout"}
    | {"channel_binding", "gssencmode", "require_auth", "sslmode", "target_session_attrs", "load_balance_hosts"}
)
"""The parts of a DSN that are recorded: no secret, and no file of one machine (`passfile`, `sslkey`)."""

STAYING = {"keepalives_idle": 60, "keepalives_interval": 15, "keepalives_count": 4, "tcp_user_timeout": 120_000}
"""The parts of a DSN that keep what stands between from cutting off a session that waits, and that end one whose server
is gone without a word after two minutes, instead of the two hours of most systems."""

_PLAIN = re.compile(r"-?[\d.]{1,6}(?:ms|s|min|h|d|kB|MB|GB)?|on|off|true|false")
_FULL = re.compile(r"too many (?:clients|connections)|connection slots are reserved")
"""What a server says that takes no further connection, of anybody or of this role: a refusal has no SQLSTATE here."""
_SECRET = re.compile(r"pass|secret|token|key|pin", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Extension:
    """An extension that is installed in the database."""

    version: str
    schema: str


@dataclass(frozen=True, slots=True)
class ServerFacts:
    """The versions and settings of a server."""

    postgres: str
    number: int
    encoding: str
    vector: Extension | None
    offered: str
    """The version of pgvector that the server could install; empty when it has none."""
    pgmnemo: str
    """The installed version of the extension pgmnemo; empty when it is not there."""


def redacted(dsn: str) -> str:
    """The DSN without anything secret, in `name=value` form."""
    parts = _parts(dsn)
    from psycopg.conninfo import make_conninfo

    if parts is None:
        return "(a DSN that can't be read)"
    shown = {name: value for name, value in parts.items() if name in SHOWN}
    if "options" in parts:
        shown["options"] = _options(str(parts["options"]))
    return make_conninfo("", **shown)


WRITTEN = "postgresql://user:password@host:port/database or host=… dbname=…"
"""How the address of a server is written."""


def connect(dsn: str, needs: str = NEEDS, instead: str = EMBEDDED_REMEDY) -> Connection:
    """A session in autocommit mode; raises Blocked when no server answers or it refuses.

    What the server is asked for, and what else would help, is told in that error.
    """
    require("postgres", "Postgres")
    import psycopg
    from psycopg.conninfo import make_conninfo

    # Its log of an interrupted query would stand between the lines about the interruption.
    logging.getLogger("psycopg").setLevel(logging.CRITICAL)
    parts = _parts(dsn)
    if parts is None:
        raise UsageError(
            "the address of the server (--dsn, or PGMNEMO_DSN) can't be read",
            expected=WRITTEN,
            remedy=f"write it as {WRITTEN}; in a password @ : / are %40 %3A %2F",
        )
    remember_secrets(*(str(parts[name]) for name in SECRETS if parts.get(name)))
    remember_secrets(*(value for name, value in _settings(str(parts.get("options", ""))) if _SECRET.search(name)))
    # A server that refuses may say the password again.
    remember_secrets(*passwords(parts.get("passfile"), os.environ))
    try:
        settings = {"connect_timeout": 10, "application_name": "recallbench", **STAYING, **parts}
        connection = psycopg.connect(make_conninfo("", **settings), autocommit=True)
        # It may be from PGPASSWORD or a service.
        remember_secrets(connection.info.password)
        watch(connection)
        return connection
    except psycopg.OperationalError as error:
        remember_secrets((error.pgconn.password if error.pgconn else b"").decode("utf-8", "replace"))  # of a service
        message = " ".join(sanitised(str(error)).split())
        refused = "FATAL" in message
        if _FULL.search(message):
            raise TooManyConnections(
                f"the server takes no further connection ({redacted(dsn)})",
                found=message,
                remedy="ask with fewer callers, or raise max_connections of the server",
            ) from None
        raise Blocked(
            f"the server {'refuses the connection' if refused else 'does not answer'} ({redacted(dsn)})",
            expected=needs,
            found=message,
            remedy=("check user, password and database of the DSN" if refused else "start the server, or check the DSN")
            + (f", or {instead}" if instead else ""),
        ) from None


@contextmanager
def database_errors(doing: str, grant: str = "GRANT CREATE ON DATABASE … TO …; as its owner") -> Iterator[None]:
    """Turn errors of the database while `doing` into one a user can act on; `grant` is what gives the right."""
    import psycopg
    from psycopg import errors

    try:
        yield
    except RecallBenchError:
        raise
    except (errors.DataError, errors.ProgramLimitExceeded, errors.IntegrityError) as error:
        raise InputError(f"the server can't take what it was given while {doing}", found=_first_line(error)) from error
    except errors.InsufficientPrivilege as error:
        remedy = f"{grant}, or {EMBEDDED_REMEDY}"
        raise Blocked(f"the role lacks a right for {doing}", found=_first_line(error), remedy=remedy) from error
    except errors.ReadOnlySqlTransaction as error:
        remedy = "name a server that takes writes (a primary, not a standby): a run brings its own segments"
        raise Blocked(
            f"the database is read-only, found while {doing}", found=_first_line(error), remedy=remedy
        ) from error
    except (errors.DiskFull, errors.OutOfMemory) as error:
        remedy = ROOM if NO_ROOM in str(error) else "free room on the server's disk, then run again"
        raise Blocked(f"the server ran out of room while {doing}", found=_first_line(error), remedy=remedy) from error
    except errors.QueryCanceled as error:
        remedy = "ALTER ROLE … SET statement_timeout = 0; or options=-cstatement_timeout=0 in the DSN, then run again"
        raise Blocked(f"the server gave up while {doing}", found=_first_line(error), remedy=remedy) from error
    except (psycopg.OperationalError, psycopg.InterfaceError) as error:
        from recallbench.stores.postgres.embedded import fate_of_server

        if silent := silence():
            found, remedy = (
                silent,
                f"mend what made it silent, or allow more seconds with {STORE.patience}, then run again",
            )
        elif fate := fate_of_server():
            found = f"{_first_line(error)}; {fate}"
            remedy = "run again: who ended the server (the system, for want of memory?) stands in the system's log"
        else:
            found, remedy = _first_line(error), "see the server's log, then run again"
        raise Blocked(f"the server was lost while {doing}", found=found, remedy=remedy) from error
    except psycopg.Error as error:
        remedy = "mend what the server names, then run again"
        raise Blocked(f"the server failed while {doing}", found=_first_line(error), remedy=remedy) from error


def server_facts(connection: Connection) -> ServerFacts:
    """Return the versions of the server and of the extensions in this database."""
    with database_errors("asking the server for its version"):
        # Not from the catalogue's newer columns: a server too old must still be able to answer.
        rows = connection.execute(
            """SELECT e.extname, e.extversion, n.nspname FROM pg_extension e
               JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname IN ('vector', 'pgmnemo')"""
        ).fetchall()
        # Asked for now: what the session was greeted with may be hours old.
        own = connection.execute(
            """SELECT current_setting('server_version'),
                   (SELECT default_version FROM pg_available_extensions WHERE name = 'vector')"""
        ).fetchone()
    assert own is not None
    extensions = {name: Extension(version, schema) for name, version, schema in rows}
    return ServerFacts(
        postgres=own[0].split()[0],
        number=connection.info.server_version,
        encoding=connection.info.parameter_status("server_encoding") or "?",
        vector=extensions.get("vector"),
        offered=own[1] or "",
        pgmnemo=extensions["pgmnemo"].version if "pgmnemo" in extensions else "",
    )


def check_age(connection: Connection) -> None:
    """Raise Blocked when the server itself is too old; asks it nothing."""
    if connection.info.server_version // 10000 < OLDEST_POSTGRES:
        version = connection.info.parameter_status("server_version")
        raise Blocked(
            "the server is too old",
            expected=NEEDS,
            found=f"PostgreSQL {version}",
            remedy=f"upgrade the server, or {EMBEDDED_REMEDY}",
        )


def unmet_requirement(facts: ServerFacts) -> tuple[str, str, str] | None:
    """Return why this server can't be used (problem, what was found, remedy); None when it can."""
    version = facts.vector.version if facts.vector else facts.offered
    description = f"PostgreSQL {facts.postgres} with " + (f"pgvector {version}" if version else "no pgvector")
    if not version:
        return "the server lacks pgvector", description, f"install pgvector on the server, or {EMBEDDED_REMEDY}"
    if _numbers(version) < OLDEST_PGVECTOR:
        newer = _numbers(facts.offered) >= OLDEST_PGVECTOR
        remedy = "ALTER EXTENSION vector UPDATE;" if newer else "install a newer pgvector on the server"
        return "the server's pgvector is too old", description, f"{remedy}, or {EMBEDDED_REMEDY}"
    if facts.encoding != "UTF8":
        remedy = f"createdb --encoding=UTF8 --template=template0 …, or {EMBEDDED_REMEDY}"
        return "the database can't hold every text", f"encoding {facts.encoding}, not UTF8", remedy
    return None


def ready_server(connection: Connection) -> ServerFacts:
    """The facts of a server that can serve, with pgvector installed in the database; raises Blocked otherwise."""
    from psycopg import errors

    check_age(connection)
    facts = server_facts(connection)
    lack = unmet_requirement(facts)
    if lack:
        raise Blocked(lack[0], expected=NEEDS, found=lack[1], remedy=lack[2])
    if facts.vector:
        _check_use(connection, facts.vector.schema)
        return facts
    try:
        with connection.transaction():
            # One at a time: two runs that both find it missing would collide in the catalogue.
            connection.execute("SELECT pg_advisory_xact_lock(hashtext('recallbench'), hashtext('vector'))")
            connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
    except errors.InsufficientPrivilege as error:
        raise Blocked(
            "pgvector is not installed in the database, and the role may not install it",
            expected=NEEDS,
            found=_first_line(error),
            remedy=f"CREATE EXTENSION vector; as the database's owner, or {EMBEDDED_REMEDY}",
        ) from error
    except (errors.UndefinedFile, errors.FeatureNotSupported, errors.InternalError) as error:
        raise Blocked(
            "pgvector's files on the server are not complete",
            expected=NEEDS,
            found=_first_line(error),
            remedy=f"install pgvector on the server again, or {EMBEDDED_REMEDY}",
        ) from error
    return server_facts(connection)


def _check_use(connection: Connection, schema: str) -> None:
    """Raise Blocked where the role may not use what lies in the schema of pgvector: it would find no such type."""
    with database_errors("asking for its rights"):
        row = connection.execute(
            """SELECT has_schema_privilege(%s, 'USAGE'),
                   format('GRANT USAGE ON SCHEMA %%I TO %%I;', %s::text, current_user)""",
            (schema, schema),
        ).fetchone()
    assert row is not None
    if not row[0]:
        raise Blocked(
            "the role may not use pgvector",
            expected=f"USAGE on the schema {schema}, where pgvector lies",
            found="no such right",
            remedy=f"{row[1]} as its owner, or {EMBEDDED_REMEDY}",
        )


def has_extension(dsn: str, name: str) -> str:
    """The installed version of an extension in the database of `dsn`, empty when it is not there."""
    with connect(dsn) as connection, database_errors("asking for an extension"):
        row = connection.execute("SELECT extversion FROM pg_extension WHERE extname = %s", (name,)).fetchone()
    return row[0] if row else ""


def _parts(dsn: str) -> dict[str, Any] | None:
    require("postgres", "Postgres")
    import psycopg
    from psycopg.conninfo import conninfo_to_dict

    try:
        parts = conninfo_to_dict(dsn)
    except psycopg.ProgrammingError:
        # The library's own message quotes the text it stumbled over, which may be the password.
        return None
    # A password with a bare @ or / in it is taken for a host, a port or a database, and would be shown as such.
    port = str(parts.get("port", "")).replace(",", "")
    torn = any("@" in str(parts.get(name, "")) for name in ("host", "dbname")) or (port and not port.isdigit())
    return None if torn else parts


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("-")[0].split(".") if part.isdigit())


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n")[0]


def _settings(options: str) -> list[tuple[str, str]]:
    """Return name and value of each setting in a DSN's `options`; the name is empty where it can't be read."""
    settings = []
    for word in re.split(r"(?<!\\)\s+", re.sub(r"(?:^|(?<=\s))-c\s*", "-c", options).strip()):
        read = re.fullmatch(r"(?:-c|--)([\w.-]+)=(.*)", word, re.DOTALL)
        settings.append((read[1], read[2]) if read else ("", word))
    return settings


def _options(options: str) -> str:
    """The settings by their names, with those values that say nothing but a number or a switch."""
    return " ".join(
        f"-c{name}={value if _PLAIN.fullmatch(value) and not _SECRET.search(name) else MARK}" if name else MARK
        for name, value in _settings(options)
    )
